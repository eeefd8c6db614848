// cuzkd with its real engine, and the commands of cuzk that speak to it: configuration, proofs, durability, the end.
//
//   node test_daemon.mjs CUZKD CUZK CUZKD_FAULT [CASE...]     the first two in one folder, cuzk-client beside them
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import { Daemon, assert, at, call, commands, env, makeCircuit, refused, run, sanitized, sleep, test, until } from './client.mjs'

const [cuzkd, cuzk, cuzkdFault] = process.argv.slice(2)
const { tool, good } = commands(cuzk)
const file = (name, text) => (fs.writeFileSync(at(name), text), at(name))

for (const [name, steps, ...more] of [['a', 61], ['b', 130], ['slow', 60, '--repeat', sanitized ? '60' : '1000']]) makeCircuit(cuzk, name, 'bn254', steps, ...more)
const witness = name => fs.readFileSync(at(`${name}.wtns`))
const socket = `unix://${at('d.sock')}`
const circuits = ['--circuit', `a=${at('a.zkey')}`, '--circuit', `b=${at('b.zkey')}`]
const d = await new Daemon(cuzkd, ['--listen', `127.0.0.1:0,${socket}`, ...circuits, '--preload', 'a', '--data', at('state'), '--memory', '6GiB'], { env }).ready()

const verify = (name, json) => {
  const { proof, publicSignals } = JSON.parse(json)
  good('verify', at(`${name}.vkey`), file('public.json', JSON.stringify(publicSignals)), file('proof.json', JSON.stringify(proof)))
}

// -- proofs

test('Prove gives a proof that verifies; a wrong witness is FAILED, a wrong file INVALID_ARGUMENT', async () => {
  for (const name of ['a', 'b']) {
    const { result } = await call(d.client, 'Prove', { submit: { circuit: name, witness: witness(name) } })
    assert.equal(result.status, 'COMPLETED', result.error_message)
    assert.equal(result.proof.length, 256)
    verify(name, result.result_json)
  }
  const wrong = witness('a')
  wrong[wrong.length - 40] ^= 1
  const { result } = await call(d.client, 'Prove', { submit: { circuit: 'a', witness: wrong } })
  assert.equal(result.status, 'FAILED')
  assert.equal(result.proof.length, 0)
  await refused('INVALID_ARGUMENT', /witness/, call(d.client, 'SubmitProof', { circuit: 'a', witness: Buffer.from('nonsense') }))
  const prime = witness('a')
  prime[30] ^= 1
  await refused('INVALID_ARGUMENT', /the prime is the scalar field of neither.*byte 28/, call(d.client, 'SubmitProof', { circuit: 'a', witness: prime }))
  const pallas = witness('a')
  Buffer.from('01000000ed302d991bf94c09fc98462200000000000000000000000000000040', 'hex').copy(pallas, 28)
  await refused('UNIMPLEMENTED', /the prime is that of pallas/, call(d.client, 'SubmitProof', { circuit: 'a', witness: pallas }))
  await refused('INVALID_ARGUMENT', /./, call(d.client, 'SubmitProof', { circuit: 'b', witness: witness('a') }))
  await refused('NOT_FOUND', /./, call(d.client, 'SubmitProof', { circuit: 'c', witness: witness('a') }))
})

test('a witness by name: from the folder that is configured, and from nowhere else', async () => {
  const folder = at('witnesses')
  fs.mkdirSync(`${folder}/deep`, { recursive: true })
  fs.copyFileSync(at('a.wtns'), `${folder}/deep/a.wtns`)
  fs.symlinkSync(at('a.wtns'), `${folder}/link.wtns`)
  fs.symlinkSync(folder, `${folder}/loop`)
  fs.writeFileSync(`${folder}/empty.wtns`, '')
  fs.truncateSync((fs.writeFileSync(`${folder}/large.wtns`, ''), `${folder}/large.wtns`), 300 << 20)
  assert.equal(spawnSync('mkfifo', [`${folder}/pipe.wtns`]).status, 0)
  await refused('INVALID_ARGUMENT', /witness_folder is not set/, call(d.client, 'SubmitProof', { circuit: 'a', witness_file: 'deep/a.wtns' }))
  const e = await new Daemon(cuzkd, ['--listen', '127.0.0.1:0', ...circuits, '--memory', '6GiB', '--jobs.witness_folder', folder], { env }).ready()
  const submit = (name, more) => call(e.client, 'Prove', { submit: { circuit: 'a', witness_file: name, ...more } })
  const { result } = await submit('deep/a.wtns')
  assert.equal(result.status, 'COMPLETED', result.error_message)
  verify('a', result.result_json)
  await refused('NOT_FOUND', /nothing\.wtns/, submit('nothing.wtns'))
  await refused('NOT_FOUND', /witness_folder/, submit('deep/a.wtns/b'))
  for (const name of ['../a.wtns', 'deep/../../a.wtns', at('a.wtns')]) await refused('INVALID_ARGUMENT', /leads out/, submit(name))
  for (const name of ['link.wtns', 'loop/deep/a.wtns', '/proc/self/exe']) await refused('INVALID_ARGUMENT', /link|leads out/, submit(name))
  for (const name of ['deep', 'pipe.wtns', '.']) await refused('INVALID_ARGUMENT', /not a regular file/, submit(name))
  await refused('INVALID_ARGUMENT', /empty/, submit('empty.wtns'))
  await refused('RESOURCE_EXHAUSTED', /314572800.*268435456/, submit('large.wtns'))
  await refused('INVALID_ARGUMENT', /not both/, submit('deep/a.wtns', { witness: witness('a') }))
  await refused('INVALID_ARGUMENT', /witness_file/, submit('x'.repeat(2000)))
  await refused('INVALID_ARGUMENT', /belong/, submit('deep/a.wtns', { circuit: '', proof_kind: 1 }))
  good('submit', e.addresses[0], 'a', 'deep/a.wtns', at('named.json'), at('named-public.json'), '--by-name', '--wait')
  good('verify', at('a.vkey'), at('named-public.json'), at('named.json'))
  await e.stop()
  const missing = spawnSync(cuzkd, ['--listen', '127.0.0.1:0', '--jobs.witness_folder', at('nowhere')], { encoding: 'utf8' })
  assert.notEqual(missing.status, 0)
  assert.match(missing.stderr, /nowhere/)
})

test('a key file that is cut short or written to while it is in use costs its own jobs alone, and is loaded again', async () => {
  const key = at('cut.zkey'), whole = fs.readFileSync(at('a.zkey'))
  const put = bytes => (fs.writeFileSync(`${key}.new`, bytes), fs.renameSync(`${key}.new`, key))
  put(whole)
  const e = await new Daemon(cuzkd, ['--listen', '127.0.0.1:0', '--circuit', `cut=${key}`, '--circuit', `b=${at('b.zkey')}`, '--memory', '6GiB'], { env }).ready()
  const prove = async circuit => (await call(e.client, 'Prove', { submit: { circuit, witness: witness(circuit === 'b' ? 'b' : 'a') } })).result
  for (const spoil of [() => fs.truncateSync(key, 4096), () => fs.writeFileSync(key, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 7)]))]) {
    assert.equal((await prove('cut')).status, 'COMPLETED')
    spoil()
    const [spoilt, other] = await Promise.all([prove('cut'), prove('b')])
    assert.equal(spoilt.status, 'FAILED')
    assert.match(spoilt.error_message, /cut\.zkey/)
    assert.equal(other.status, 'COMPLETED')
    put(whole)
    assert.equal((await prove('cut')).status, 'COMPLETED')
  }
  assert.match(e.log, /cut\.zkey was (cut short|written to) while it was in use; the key of cut is loaded again/)
  await e.stop()
})

test('an item of a list that is too long is refused, not left out', () => {
  for (const [flag, text] of [['--listen', `127.0.0.1:0,unix:///tmp/${'x'.repeat(600)}`], ['--preload', `${'x'.repeat(600)},b`]]) {
    const got = spawnSync(cuzkd, [flag, text, '--check-config'], { encoding: 'utf8' })
    assert.notEqual(got.status, 0)
    assert.match(got.stderr, /511 is the most/)
  }
  const long = spawnSync(cuzkd, ['--listen', `unix:///tmp/${'x'.repeat(150)}`], { encoding: 'utf8', timeout: 20000 })
  assert.ok(long.status > 0, `${long.status} ${long.signal}`)
})

test('files of the journal that go while the daemon runs: said within seconds, durable jobs refused, the rest goes on', async () => {
  for (const [name, what] of [['', 'folder'], ['/payloads', 'folder'], ['/journal.sqlite', 'file'], ['/journal.sqlite-wal', 'file']]) {
    const data = at(`moved${name.replaceAll('/', '-')}`), path = `${data}${name}`, away = at('away')
    const e = await new Daemon(cuzkd, ['--listen', '127.0.0.1:0', ...circuits, '--memory', '6GiB', '--data', data], { env }).ready()
    const prove = durable => call(e.client, 'Prove', { submit: { circuit: 'a', witness: witness('a'), durable } })
    const broken = async () => Number(/^cuzk_journal_broken (\d)$/m.exec((await call(e.client, 'GetMetrics', {})).prometheus_text)[1])
    const before = await call(e.client, 'SubmitProof', { circuit: 'b', witness: witness('b'), durable: 1 })
    if (name === '') await call(e.client, 'AwaitProof', { job_id: before.job_id }) // then nothing else happens that could notice
    fs.renameSync(path, away)
    await until(`${path} is missed`, async () => (await broken()) === 1, 15000)
    assert.match(e.log, new RegExp(`the journal cannot be written; durable jobs are refused until it can: ${path}: a file of the journal has been deleted or moved`))
    await refused('UNAVAILABLE', /journal|disk does not take/, prove(1))
    assert.equal((await prove(2)).result.status, 'COMPLETED')
    assert.equal((await call(e.client, 'AwaitProof', { job_id: before.job_id })).status, 'COMPLETED')
    what === 'folder' ? fs.mkdirSync(path, { recursive: true }) : fs.writeFileSync(path, fs.readFileSync(away)) // a copy is not the file
    if (name === '') fs.mkdirSync(`${path}/payloads`)
    await refused('UNAVAILABLE', /journal/, prove(1))
    fs.rmSync(path, { recursive: true })
    fs.renameSync(away, path)
    assert.equal((await prove(1)).result.status, 'COMPLETED')
    assert.match(e.log, /the journal can be written again/)
    await e.stop()
    const again = await new Daemon(cuzkd, ['--listen', '127.0.0.1:0', ...circuits, '--memory', '6GiB', '--data', data], { env }).ready()
    assert.equal((await call(again.client, 'AwaitProof', { job_id: before.job_id })).status, 'COMPLETED')
    await again.stop()
  }
})

test("a waiting job's input that vanishes from the disk is written again, and survives kill -9", async () => {
  const data = at('inputs'), args = ['--listen', '127.0.0.1:0', '--circuit', `a=${at('a.zkey')}`, '--circuit', `slow=${at('slow.zkey')}`, '--memory', '6GiB', '--data', data]
  const e = await new Daemon(cuzkd, args, { env }).ready()
  const inputs = () => fs.readdirSync(`${data}/payloads`)
  const jobs = []
  for (let i = 0; i < 25; i++) jobs.push((await call(e.client, 'SubmitProof', { circuit: 'slow', witness: witness('slow'), durable: 1 })).job_id)
  const last = jobs.at(-1)
  const name = inputs().find(n => n.endsWith(last))
  fs.unlinkSync(`${data}/payloads/${name}`)
  await until('the input is written again', () => e.log.includes(`the input of job ${last} is no longer on the disk as it was written; it has been written again`), 20000)
  assert.ok(inputs().includes(name))
  e.signal('SIGKILL')
  await e.ended
  e.client.close()
  const again = await new Daemon(cuzkd, args, { env }).ready()
  for (const job_id of jobs) if (job_id !== last) await call(again.client, 'CancelProof', { job_id })
  const a = await call(again.client, 'AwaitProof', { job_id: last })
  assert.equal(a.status, 'COMPLETED', a.error_message)
  await again.stop()
})

test('a journal that is in use, damaged, or of something else stops the start, and says what to do', async () => {
  const start = async (data, code, pattern) => {
    const e = new Daemon(cuzkd, ['--listen', '127.0.0.1:0', ...circuits, '--data', data], { env })
    await e.ended
    assert.equal(e.exit.code, code, e.log)
    assert.match(e.log, pattern)
    assert.match(e.log, /what to do: /)
  }
  await start(at('state'), 4, new RegExp(`${at('state')}: another process \\(${d.process.pid}\\) has the journal of this folder[^]*--data`))
  fs.mkdirSync(at('garbage'))
  fs.writeFileSync(at('garbage/journal.sqlite'), 'no database '.repeat(1000))
  await start(at('garbage'), 3, /garbage: the journal: cannot be opened: file is not a database[^]*move journal\.sqlite\* away/)
  await start(file('a-file', 'x'), 4, /a-file: /)
})

test('a data folder that has gone refuses durable jobs as UNAVAILABLE, and the rest goes on', async () => {
  const e = await new Daemon(cuzkd, ['--listen', '127.0.0.1:0', ...circuits, '--memory', '6GiB', '--data', at('gone')], { env }).ready()
  fs.rmSync(at('gone'), { recursive: true })
  await refused('UNAVAILABLE', /disk does not take/, call(e.client, 'SubmitProof', { circuit: 'a', witness: witness('a'), durable: 1 }))
  assert.equal((await call(e.client, 'Prove', { submit: { circuit: 'a', witness: witness('a'), durable: 2 } })).result.status, 'COMPLETED')
  await e.stop()
})

test('the same id: one proof for one content, two right proofs for two contents at the same time', async () => {
  const prove = name => call(d.client, 'Prove', { submit: { circuit: name, witness: witness(name), request_id: 'porep-1000-1' } })
  const [a, again, b] = await Promise.all([prove('a'), prove('a'), prove('b')])
  assert.equal(a.result.job_id, again.result.job_id)
  assert.ok(a.result.proof.equals(again.result.proof))
  assert.notEqual(a.result.job_id, b.result.job_id)
  verify('a', a.result.result_json)
  verify('b', b.result.result_json)
})

test('a durable job and its result survive kill -9', async () => {
  const args = [...circuits, '--data', at('durable'), '--memory', '6GiB']
  const first = await new Daemon(cuzkd, args, { env }).ready()
  const jobs = []
  for (let i = 0; i < 8; i++)
    jobs.push((await call(first.client, 'SubmitProof', { circuit: 'b', witness: witness('b'), durable: 1, request_id: `r${i}` })).job_id)
  first.signal('SIGKILL')
  await first.ended
  first.client.close()
  const second = await new Daemon(cuzkd, args, { env }).ready()
  for (const job_id of jobs) {
    const a = await call(second.client, 'AwaitProof', { job_id, timeout_ms: 60000 })
    assert.equal(a.status, 'COMPLETED', a.error_message)
    verify('b', a.result_json)
  }
  await second.stop()
})

test('a proof that comes after its deadline is sent, and counted', async () => {
  const late = async () => Number(/^cuzk_jobs_late_total (\d+)$/m.exec((await call(d.client, 'GetMetrics', {})).prometheus_text)[1])
  const before = await late()
  const { job_id } = await call(d.client, 'SubmitProof', { circuit: 'a', witness: witness('a'), deadline_ms: 1 })
  verify('a', (await call(d.client, 'AwaitProof', { job_id })).result_json)
  assert.equal(await late(), before + 1)
  verify('a', (await call(d.client, 'Prove', { submit: { circuit: 'a', witness: witness('a') } }, { deadline: 60000 })).result.result_json)
  assert.equal(await late(), before + 1)
})

test('SIGTERM while a durable job waits: UNAVAILABLE, and the next start has its proof', async () => {
  const args = [...circuits, '--data', at('left'), '--memory', '6GiB', '--daemon.drain_timeout', '0s']
  const first = await new Daemon(cuzkd, args, { env }).ready()
  const jobs = await Promise.all(Array.from({ length: 30 }, (_, i) => call(first.client, 'SubmitProof', { circuit: 'b', witness: witness('b'), durable: 1, request_id: `left-${i}` })))
  const waits = Promise.all(jobs.map(({ job_id }) => call(first.client, 'AwaitProof', { job_id }).catch(e => e)))
  first.signal('SIGTERM')
  const ends = await waits
  await first.stop()
  const left = ends.filter(e => e instanceof Error)
  assert.ok(left.length > 0)
  for (const e of left) assert.match(e.message, /UNAVAILABLE|CANCELLED/) // the latter: a call that came when gRPC core was going
  const second = await new Daemon(cuzkd, args, { env }).ready()
  for (const { job_id } of jobs) verify('b', (await call(second.client, 'AwaitProof', { job_id })).result_json)
  await second.stop()
})

// -- the commands

test('cuzk submit writes what cuzk verify takes; await, status, preload, evict, cancel', async () => {
  good('submit', socket, 'a', at('a.wtns'), at('p.json'), at('q.json'))
  good('verify', at('a.vkey'), at('q.json'), at('p.json'))
  const job = good('submit', d.addresses[0], 'b', at('b.wtns'), '--priority', 'high', '--request-id', 'mine').trim()
  assert.match(job, /^[0-9a-f]{32}$/)
  assert.equal(JSON.parse(good('await', socket, job, at('p2.json'), at('q2.json'), '--json')).job, job)
  good('verify', at('b.vkey'), at('q2.json'), at('p2.json'))
  assert.equal(JSON.parse(good('submit', socket, 'b', at('b.wtns'), '--request-id', 'mine', '--priority', 'high', '--json')).joined, true)
  assert.match(good('status', socket), /lane 0 .*\nkey +loaded +a/)
  const status = JSON.parse(good('status', socket, '--json'))
  assert.deepEqual(status.keys.map(k => k.circuit), ['a', 'b'])
  assert.match(good('status', socket, '--metrics'), /^cuzk_proofs_completed_total \d+$/m)
  assert.match(good('evict', socket, 'a'), /a evicted/)
  assert.equal(JSON.parse(good('evict', socket, 'a', '--json')).was_loaded, false)
  assert.match(good('preload', socket, 'a'), /a loaded in/)
  assert.match(good('preload', socket, 'a'), /already/)
  assert.match(good('cancel', socket, job), /not cancelled: the job had completed before/)
  const cancelled = JSON.parse(good('cancel', socket, job, '--json'))
  assert.deepEqual([cancelled.cancelled, cancelled.was_running, cancelled.ended_before], [false, false, 'completed'])
  assert.match(JSON.parse(good('status', socket, '--metrics', '--json')).metrics, /^cuzk_proofs_completed_total \d+$/m)
})

test('the commands fail with the exit code of the cause', async () => {
  const code = (n, pattern, ...args) => {
    const p = tool(...args)
    assert.equal(p.code, n, `${args}: ${p.err}`)
    assert.match(p.err, pattern)
  }
  code(2, /ADDRESS is missing/, 'submit')
  code(2, /would overwrite the input/, 'submit', socket, 'a', at('a.wtns'), at('a.wtns'))
  code(2, /are one file/, 'submit', socket, 'a', at('a.wtns'), at('z.json'), at('z.json'))
  code(4, /no-folder/, 'submit', socket, 'a', at('a.wtns'), at('no-folder/z.json'))
  code(2, /are one file/, 'await', socket, '0', '-', '-')
  code(2, /not an address/, 'status', 'nonsense')
  code(2, /--priority/, 'submit', socket, 'a', at('a.wtns'), '--priority', 'urgent')
  code(4, /NOT_FOUND/, 'submit', socket, 'nothing', at('a.wtns'))
  code(4, /no such job/, 'await', socket, '0')
  code(4, /./, 'submit', socket, 'a', at('there-is-none.wtns'))
  code(6, /UNAVAILABLE/, 'status', `unix://${at('nobody.sock')}`)
  const wrong = witness('a')
  wrong[wrong.length - 40] ^= 1
  code(3, /does not satisfy|the job failed/, 'submit', socket, 'a', file('wrong.wtns', wrong), at('never.json'))
  assert.ok(!fs.existsSync(at('never.json')))
})

// -- configuration

const checked = (text, ...flags) => {
  const p = spawnSync(cuzkd, ['--config', file('c.toml', text), '--check-config', ...flags], { encoding: 'utf8' })
  return { code: p.status, out: p.stdout, err: p.stderr }
}
const wrong = (pattern, text, ...flags) => {
  const p = checked(text, ...flags)
  assert.equal(p.code, 2, p.err + p.out)
  assert.match(p.err, pattern)
}

test('an existing configuration is read; what has no effect is named once each', async () => {
  const p = checked(`
[daemon]
listen = "unix:///run/curio/cuzk.sock"
status_listen = "0.0.0.0:9821"
[srs]
param_cache = "/data/zk/params"
preload = []
[memory]
total_budget = "256GiB"
safety_margin = "5GiB"
eviction_min_idle = "5m"
[gpus]
devices = [0, 1]
gpu_threads = 32
gpu_workers_per_device = 2
[gpus.affinity]
0 = "porep-32g"
1 = "any"
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[synthesis]
threads = 0
partition_workers = 20
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 1
[logging]
level = "info"
format = "json"
`)
  assert.equal(p.code, 0, p.err)
  for (const key of ['daemon.status_listen', 'gpus.devices', 'gpus.gpu_workers_per_device', 'gpus.gpu_threads', 'gpus.affinity.0', 'scheduler.sort_by_type', 'pipeline.enabled'])
    assert.equal(p.err.split(`${key} has no effect`).length, 2, `${key}: ${p.err}`)
  assert.doesNotMatch(p.err, /affinity\.1/)
  assert.match(p.out, /listen = \["unix:\/\/\/run\/curio\/cuzk\.sock"\]/)
  assert.match(p.out, /total_budget = 274877906944\n/)
  assert.match(p.out, /eviction_min_idle = "300000ms"/)
})

test('an address that is none is no configuration', () => {
  for (const address of ['127.0.0.1:99999', '127.0.0.1', '[::1:1', 'unix:', `unix:///${'x'.repeat(150)}`]) wrong(/address|socket/, '', '--listen', address)
})

test('what --check-config prints means the same', async () => {
  const p = checked('[jobs]\nttl = "2h"\ndata = "a \\"quoted\\" folder"\n[circuits]\nx = "/k.zkey"\n"y.1" = { key = "/y.params", r1cs = "/y.r1cs" }\n', '--preload', 'x', '--memory', '1GiB')
  assert.equal(p.code, 0, p.err)
  const again = checked(p.out)
  assert.equal(again.out, p.out)
  assert.match(p.out, /"x" = \{ key = "\/k\.zkey", preload = true \}/)
  assert.match(p.out, /total_budget = 1073741824/)
  assert.match(p.out, /ttl = "7200000ms"/)
})

test('devices: their list, their lanes; what is about them has no effect on the CPU, or is refused', async () => {
  const p = checked('[engine]\nbackend = "cuda"\n[gpus]\ndevices = [0, 3]\ngpu_workers_per_device = 2\nmemory = "8GiB"\nbatches = false\n[memory]\npinned = "1GiB"\n')
  assert.equal(p.code, 0, p.err)
  assert.match(p.out, /devices = \[0, 3\]\ngpu_workers_per_device = 2\nmemory = 8589934592\nbatches = false\n/)
  assert.equal(checked(p.out).out, p.out)
  assert.match(checked('', '--gpus.devices', '1,2').err, /gpus\.devices has no effect: \[engine\] backend is cpu/)
  wrong(/memory\.pinned is for devices/, '[memory]\npinned = "1GiB"\n')
  wrong(/line 2: gpus\.devices takes whole numbers from 0 to 63, not '64'/, '[gpus]\ndevices = [64]\n')
  wrong(/line 2: gpus\.devices takes whole numbers .* not '-1'/, '[gpus]\ndevices = [-1]\n')
  wrong(/line 2: gpus\.devices takes an array of whole numbers, not an array/, '[gpus]\ndevices = [1, "a"]\n')
  wrong(/line 2: gpus\.devices takes an array of whole numbers, not a text/, '[gpus]\ndevices = "1"\n')
  wrong(/--gpus\.devices takes whole numbers/, '', '--gpus.devices', '1,')
  const none = new Daemon(cuzkd, [...circuits, '--backend', 'abacus'], { env })
  await none.ended
  assert.equal(none.exit.code, 6)
  assert.match(none.log, /backend abacus is not in this build/)
})

test('GetStatus and GetMetrics show devices that have memory of their own, the pinned reserve, keys and queues', async () => {
  const e = await new Daemon(cuzkdFault, [...circuits, '--backend', 'blind', '--gpus.devices', '0,0', '--gpus.gpu_workers_per_device', '2', '--gpus.memory', '64MiB',
    '--memory.pinned', '2MiB', '--memory', '2GiB'], { env }).ready()
  const before = await call(e.client, 'GetStatus', {})
  assert.equal(before.gpus.length, 4)
  for (const g of before.gpus) assert.deepEqual([g.vram_total_bytes, g.vram_free_bytes], [2 ** 26, 2 ** 26])
  assert.deepEqual([before.pinned_memory_bytes, before.pinned_memory_limit_bytes], [2 ** 21, 2 ** 21])
  assert.deepEqual(before.loaded_srs.map(k => [k.circuit_id, k.tier, k.size_bytes, k.ref_count]), [['a', 'COLD', 0, 0], ['b', 'COLD', 0, 0]])
  const { result } = await call(e.client, 'Prove', { submit: { circuit: 'a', witness: witness('a') } })
  verify('a', result.result_json)
  const after = await call(e.client, 'GetStatus', {})
  const [a] = after.loaded_srs
  assert.deepEqual([a.circuit_id, a.tier, a.ref_count], ['a', 'HOT', 0])
  for (const g of after.gpus) assert.ok(g.vram_free_bytes < 2 ** 26 && g.vram_free_bytes > 2 ** 26 - a.size_bytes)
  assert.ok(after.memory_bytes > before.memory_bytes && after.memory_bytes < after.memory_limit_bytes)
  assert.equal(after.total_proofs_completed, 1)
  assert.deepEqual(after.queues.map(q => [q.proof_kind, q.pending, q.in_progress]), [['circom', 0, 0]])
  const { prometheus_text } = await call(e.client, 'GetMetrics', {})
  assert.match(prometheus_text, /^cuzk_device_memory_limit_bytes\{device="1"\} 67108864$/m)
  assert.ok(Number(/^cuzk_device_memory_bytes\{device="1"\} (\d+)$/m.exec(prometheus_text)[1]) > 0)
  assert.ok((await call(e.client, 'EvictSRS', { circuit_id: 'a' })).was_loaded)
  for (const g of (await call(e.client, 'GetStatus', {})).gpus) assert.equal(g.vram_free_bytes, 2 ** 26)
  await e.stop()
})

test('unknown keys, wrong types and ranges are errors with their line', async () => {
  wrong(/c\.toml: line 3: memory\.total_bugdet is not known[^]*did you mean memory\.total_budget\?/, '\n[memory]\ntotal_bugdet = "1GiB"\n')
  wrong(/line 1: nonsense is not known/, 'nonsense = 1\n')
  wrong(/line 2: unknown\.table is not known/, '[unknown]\ntable = 1\n')
  wrong(/line 1: empty is not known/, '[empty]\n')
  wrong(/line 2: limits\.connections takes a whole number from 1 to 65536, not '0'/, '[limits]\nconnections = 0\n')
  wrong(/line 2: limits\.connections takes .* not a text/, '[limits]\nconnections = "many"\n')
  wrong(/line 2: limits\.connections takes .* not '-4'/, '[limits]\nconnections = -4\n')
  wrong(/line 2: limits\.message takes a size .* not '5 parsecs'/, '[limits]\nmessage = "5 parsecs"\n')
  wrong(/line 2: limits\.message takes .* not '99999999999999999999GiB'/, '[limits]\nmessage = "99999999999999999999GiB"\n')
  wrong(/line 2: daemon\.drain_timeout takes a time .* not a whole number/, '[daemon]\ndrain_timeout = 5\n')
  wrong(/line 2: jobs\.cancel_when_alone takes true or false, not a text/, '[jobs]\ncancel_when_alone = "yes"\n')
  wrong(/line 2: logging\.level is one of error warn info debug, not 'loud'/, '[logging]\nlevel = "loud"\n')
  wrong(/line 2: daemon\.listen takes a text or an array of texts, not an array/, '[daemon]\nlisten = [1]\n')
  wrong(/line 2: not TOML/, '[daemon]\nlisten = \n')
  wrong(/line 2: circuits\.x\.kye is not known[^]*did you mean key/, '[circuits]\nx = { kye = "k" }\n')
  wrong(/line 2: circuits\.a b is not a circuit's name/, '[circuits]\n"a b" = "k"\n')
  wrong(/the circuit x has no key/, '[circuits]\nx = { preload = true }\n')
  wrong(/srs\.preload names y/, '[srs]\npreload = ["y"]\n')
  wrong(/--limits\.connections takes/, '', '--limits.connections', '0')
  wrong(/unknown argument --lisen[^]*did you mean --listen\?/, '', '--lisen', 'x')
  wrong(/--listen needs a value/, '', '--listen')
  wrong(/--circuit takes NAME=KEY/, '', '--circuit', 'x')
  const p = spawnSync(cuzkd, ['--config', at('none.toml')], { encoding: 'utf8' })
  assert.equal(p.status, 4)
  assert.match(p.stderr, /none\.toml/)
})

test('nothing in a configuration is passed over: arrays of tables, keys and circuits twice, texts that would be cut', async () => {
  wrong(/line 1: circuits is a table, and not an array of tables[^]*write \[circuits\] once/, '[[circuits]]\nname = "a"\n')
  wrong(/line 3: memory is a table, and not an array of tables/, '\n\n[[memory]]\ntotal_budget = "1GiB"\n')
  wrong(/line 1: circuits is a table, and not an array/, 'circuits = []\n')
  wrong(/line 2: gpus\.affinity is a table, and not an array/, '[gpus]\naffinity = [[1]]\n')
  wrong(/line 3: not TOML: .*total_budget/, '[memory]\ntotal_budget = "1GiB"\ntotal_budget = "2GiB"\n')
  wrong(/line 2: circuits\.a takes a text, not a table/, '[circuits]\n[circuits.a]\n')
  wrong(/circuits\.a\.b\.c\.d\.e\.f\.g is not known/, '[circuits.a.b.c.d.e.f.g.h.i]\nk = 1\n')
  wrong(/--circuit names the circuit a twice/, '', '--circuit', 'a=k', '--circuit=a=l')
  for (const circuit of ['=k', 'a=,r', 'a=k,']) wrong(/--circuit takes NAME=KEY/, '', '--circuit', circuit)
  wrong(/--config names two files/, '', `--config=${at('c.toml')}`)
  wrong(/line 2: jobs\.data takes a text, not a text with a control character/, '[jobs]\ndata = "a\\nb"\n')
  wrong(/line 2: daemon\.listen takes .*, not an array with a control character/, '[daemon]\nlisten = ["b", "a\\u007fb"]\n')
  wrong(/line 2: circuits\.a takes a text, not a text with a control character/, '[circuits]\na = "a\\u0000b"\n')
  wrong(/line 2: circuits\.a\?b is not a circuit's name/, '[circuits]\n"a\\u0000b" = "k"\n')
  wrong(/line 1: not TOML/, 'a = "\0"\n')
  wrong(/line 1: not TOML: .*utf-8/, Buffer.from('a = "\xff"\n', 'latin1'))
  wrong(/--data has a control character/, '', '--data', 'a\nb')
  wrong(/--circuit has a control character/, '', '--circuit', 'a=k\nb')
  wrong(/not an array of more than 256 values/, `[daemon]\nlisten = [${Array(257).fill('"x"')}]\n`)
  // A comma in an array's text is the text's own; a flag's circuit has nothing of the file's circuit but its kind.
  const p = checked('[daemon]\nlisten = ["unix:///a,b"]\n[circuits]\na = { key = "k", r1cs = "r" }\n', '--circuit', 'a=l')
  assert.equal(p.code, 0, p.err)
  assert.match(p.out, /listen = \["unix:\/\/\/a,b"\]/)
  assert.match(p.out, /"a" = \{ key = "l", preload = false \}/)
})

test('a configuration from a pipe and from standard input; a folder is none', async () => {
  const text = '[memory]\ntotal_budget = "1GiB"\n'
  for (const path of ['/dev/stdin', '-']) {
    const p = spawnSync('sh', ['-c', 'cat "$2" | "$0" --config "$1" --check-config', cuzkd, path, file('piped.toml', text)], { encoding: 'utf8' })
    assert.equal(p.status, 0, p.stderr)
    assert.match(p.stdout, /total_budget = 1073741824/)
  }
  const fifo = at('config.fifo')
  assert.equal(spawnSync('mkfifo', [fifo]).status, 0)
  const waits = new Daemon(cuzkd, ['--config', fifo, '--check-config'], { env })
  fs.writeFileSync(fifo, '[memory]\nbudget = 1\n')
  await waits.ended
  assert.equal(waits.exit.code, 2)
  assert.match(waits.log, /config\.fifo: line 2: memory\.budget is not known/)
  const p = spawnSync(cuzkd, ['--config', at('.')], { encoding: 'utf8' })
  assert.equal(p.status, 4)
  assert.match(p.stderr, /Is a directory[^]*name a file, not a folder/)
})

test('--help names every key and every default', async () => {
  const out = spawnSync(cuzkd, ['--help'], { encoding: 'utf8' }).stdout
  const printed = checked('').out
  let table = ''
  for (const line of printed.split('\n')) {
    if (/^\[/.test(line)) table = line.slice(1, -1)
    else if (line) assert.ok(out.includes(`--${table}.${line.split(' ')[0]} `), line)
  }
  assert.match(spawnSync(cuzkd, ['--version'], { encoding: 'utf8' }).stdout, /^cuzkd \d+\.\d+\.\d+\n$/)
})

test('a circuit whose key is not there, or of a kind that is not built, stops the start', async () => {
  for (const [code, pattern, ...args] of [[4, /nothing\.zkey/, '--circuit', `x=${at('nothing.zkey')}`],
    [3, /no kind 'snap'/, '--config', file('kind.toml', '[circuits]\nx = { key = "k", kind = "snap" }\n')]]) {
    const e = new Daemon(cuzkd, args, { env })
    await e.ended
    assert.equal(e.exit.code, code, e.log)
    assert.match(e.log, pattern)
  }
})

test('the log has one JSON object a line, and a line for each stage', async () => {
  await until('the lines are there', () => d.log.includes('CUZK_TIMING: job='))
  for (const line of d.log.trimEnd().split('\n')) assert.ok(JSON.parse(line).text, line)
  assert.match(d.log, /CUZK_TIMING: job=[0-9a-f]{32} part=0 stage=prove ms=[0-9.]+ device=/)
})

test('the daemon has taken all this well', () => d.stop())

// Not by the protocol: it answers once it has the first bytes, and reads no more; windows without an end, so that TCP alone is in the way.
test('a server that answers early and stops reading does not hold the client', async () => {
  const frame = (type, flags, stream, body = Buffer.alloc(0)) => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(body.length, 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(stream, 5)
    return Buffer.concat([head, body])
  }
  const field = (name, value) => Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])
  const server = net.createServer(s => {
    let got = Buffer.alloc(0), preface = true, answered = false
    s.on('error', () => {})
    s.write(Buffer.concat([frame(4, 0, 0, Buffer.from('00047fffffff', 'hex')), frame(8, 0, 0, Buffer.from('7fff0000', 'hex'))]))
    s.on('data', b => {
      got = Buffer.concat([got, b])
      if (preface && got.length >= 24) { got = got.subarray(24); preface = false }
      while (!preface && !answered && got.length >= 9 && got.length >= 9 + got.readUIntBE(0, 3)) {
        const type = got[3], flags = got[4], stream = got.readUInt32BE(5)
        if (type === 4 && !(flags & 1)) s.write(frame(4, 1, 0))
        if (type === 6 && !(flags & 1)) s.write(frame(6, 1, 0, got.subarray(9, 17)))
        if (type === 0) {
          answered = true
          s.pause().write(Buffer.concat([
            frame(1, 4, stream, Buffer.concat([Buffer.from([0x88]), field('content-type', 'application/grpc')])),
            frame(0, 0, stream, Buffer.from('00000000060a0461626364', 'hex')), // SubmitProofResponse, job_id "abcd"
            frame(1, 5, stream, field('grpc-status', '0'))]))
        }
        got = got.subarray(9 + got.readUIntBE(0, 3))
      }
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  fs.writeFileSync(at('large.wtns'), Buffer.alloc(60e6, 1))
  const child = spawn(cuzk, ['submit', `127.0.0.1:${server.address().port}`, 'small', at('large.wtns')], { env })
  let said = ''
  child.stderr.on('data', b => (said += b))
  const begun = Date.now()
  const [code] = await Promise.race([new Promise(resolve => child.on('close', (...end) => resolve(end))), sleep(60000).then(() => ['hangs'])])
  child.kill('SIGKILL')
  server.close()
  assert.notEqual(code, 0)
  assert.notEqual(code, 'hangs')
  assert.match(said, /answered, and then did not read the request to its end/)
  assert.ok(Date.now() - begun > 5000, 'not without patience')
})

await run()
