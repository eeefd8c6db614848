// cuzkd with its devices in processes of their own ([devices] process).
//
//   node test_device.mjs CUZKD CUZK [CASE...]     both in one folder, cuzk-client beside them
//
// With CUZK_LOAD=slow PoRep is proved too, with a development key of 1.1 GB (CUZK_TEST_PARAMS: porep.mjs).
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { Daemon, assert, at, call, commands, env, makeCircuit, run, test, until } from './client.mjs'
import { porepTools } from './porep.mjs'

const [cuzkd, cuzk] = process.argv.slice(2)
const { good } = commands(cuzk)
makeCircuit(cuzk, 'a', 'bn254', 61)
const witness = fs.readFileSync(at('a.wtns'))
const always = ['--devices.process', 'always']
const start = (...args) => new Daemon(cuzkd, ['--circuit', `a=${at('a.zkey')}`, '--memory', '6GiB', ...args], { env }).ready()

// The processes that a daemon has started.
const children = d => fs.readdirSync('/proc').filter(p => /^\d+$/.test(p)).filter(p => {
  try {
    const [, state, parent] = /\) (\S) (\d+) /.exec(fs.readFileSync(`/proc/${p}/stat`, 'utf8'))
    return Number(parent) === d.process.pid && state !== 'Z'
  } catch { return false }
}).map(Number)
const metric = async (d, name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await call(d.client, 'GetMetrics', {})).prometheus_text)[1])
const prove = async d => {
  const { result } = await call(d.client, 'Prove', { submit: { circuit: 'a', witness } })
  assert.equal(result.status, 'COMPLETED', result.error_message)
  const { proof, publicSignals } = JSON.parse(result.result_json)
  fs.writeFileSync(at('proof.json'), JSON.stringify(proof))
  fs.writeFileSync(at('public.json'), JSON.stringify(publicSignals))
  good('verify', at('a.vkey'), at('public.json'), at('proof.json'))
}

test('a CPU has no process of its own unless that is asked for', async () => {
  const shown = (...args) => spawnSync(cuzkd, ['--check-config', ...args], { encoding: 'utf8' })
  assert.match(shown().stdout, /\[devices\]\nprocess = "auto"/)
  assert.match(shown(...always).stdout, /\[devices\]\nprocess = "always"/)
  const wrong = shown('--devices.process', 'sometimes')
  assert.equal(wrong.status, 2)
  assert.match(wrong.stderr, /auto always never/)
  const by_hand = spawnSync(cuzkd, ['--device-process', '3'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe', 'ignore'] })
  assert.equal(by_hand.status, 2)
  const d = await start()
  await prove(d)
  assert.deepEqual(children(d), [])
  await d.stop()
})

test('killed between proofs and under them it is started again, and counted', async () => {
  const d = await start('--lanes', '2', ...always)
  assert.equal(children(d).length, 1)
  for (let i = 1; i <= 3; i++) {
    await prove(d)
    const [child] = children(d)
    process.kill(child, 'SIGKILL')
    await until('it is gone', () => !children(d).includes(child))
    await prove(d)
    assert.equal(await metric(d, 'cuzk_device_restarts_total'), i)
  }
  assert.match(d.log, /ended with 0 requests under way: killed by signal 9/)
  await d.stop()
})

test('the daemon dies, and so do the processes of its devices', async () => {
  const d = await start(...always)
  await prove(d)
  const [child] = children(d)
  d.signal('SIGKILL')
  await d.ended
  d.client.close()
  await until('it is gone', () => !fs.existsSync(`/proc/${child}`) || /\) Z /.test(fs.readFileSync(`/proc/${child}/stat`, 'utf8')))
})

if (process.env.CUZK_LOAD === 'slow')
  test('PoRep: synthesised in the daemon, proved in the process, which is killed in the middle', async () => {
    const { c1, job, made, verify } = porepTools(cuzk, env)
    const params = made(), file = c1(7)
    const d = await start('--params', params, '--preload', 'porep-2k', '--lanes', '2', ...always)
    const { job_id } = await call(d.client, 'SubmitProof', job(fs.readFileSync(file)))
    await until('it is synthesised', () => /stage=synthesis/.test(d.log), 1800000)
    await new Promise(resolve => setTimeout(resolve, 2000))
    process.kill(children(d)[0], 'SIGKILL')
    const end = await call(d.client, 'AwaitProof', { job_id })
    assert.deepEqual([end.status, end.proof.length], ['COMPLETED', 192], end.error_message)
    assert.equal(end.attempts, 3)
    verify(file, end.proof, params)
    assert.equal(d.log.split('stage=synthesis').length, 2, 'what was synthesised was kept')
    assert.equal(await metric(d, 'cuzk_device_restarts_total'), 1)
    await d.stop()
  })

await run()
