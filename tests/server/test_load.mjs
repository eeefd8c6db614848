// cuzkd with its real engine under load: urgent work in a flood, a full queue, kills, faults, and hours of small proofs in little.
// Every proof that comes back is verified by checker.c.
//
//   CUZK_LOAD=fast|slow node test_load.mjs CUZKD CUZK CHECKER CUZKD_FAULT [CASE...]     cuzk-client beside cuzk
//
// With CUZK_LOAD=slow each case has the size that it is meant to have; each is a program of its own for ctest (server_flood, server_kills,
// ...), and says at its end what it has seen.  CUZK_SEED: of what is random here.  CUZK_SOAK: proofs of the soak (20000);
// CUZK_TEST_PARAMS: porep.mjs.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { Checker, Daemon, assert, at, call, connect, env, grpc, makeCircuit, refused, run, sanitized, seeded, sleep, test, until } from './client.mjs'
import { availableParallelism } from 'node:os'
import { porepTools } from './porep.mjs'

const [cuzkd, cuzk, checkerProgram, cuzkdFault] = process.argv.slice(2)
const size = process.env.CUZK_LOAD ?? 'fast'
const slow = size === 'slow'
const { random } = seeded()

const once = make => {
  let made
  return () => (made ??= make())
}
const quick = makeCircuit(cuzk, 'quick', 'bn254', 61)
const other = makeCircuit(cuzk, 'other', 'bls12_381', 50)
const makeLong = once(() => makeCircuit(cuzk, 'long', 'bn254', 60, '--repeat', slow ? '1000' : sanitized ? '20' : '250')) // short witness, long proof
const makeLonger = once(() => makeCircuit(cuzk, 'longer', 'bn254', 60, '--repeat', sanitized ? '500' : '2000'))
const checker = new Checker(checkerProgram)
const memory = ['--memory', '4GiB']
const say = text => console.log(`        ${text}`)
const metric = async (client, name) => {
  const { prometheus_text } = await call(client, 'GetMetrics', {})
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(prometheus_text)[1])
}
const submit = (client, circuit, more = {}) => call(client, 'SubmitProof', { circuit: circuit.name, witness: circuit.witness, ...more })
const prove = async (client, circuit, more = {}) => (await call(client, 'Prove', { submit: { circuit: circuit.name, witness: circuit.witness, ...more } })).result
const right = async (circuit, result) => {
  assert.equal(result.status, 'COMPLETED', result.error_message)
  await checker.check(circuit, result.result_json)
  return result
}

test('urgent work waits for one part at most in a flood, and the flood ends', async () => {
  const flood = sanitized ? 40 : 200, interval = slow ? 5000 : 300, long = makeLong()
  const d = await new Daemon(cuzkd, [...long.flags, ...quick.flags, '--srs.preload', 'long,quick', ...memory, '--scheduler.ageing', '0s'], { env }).ready()
  await right(long, await prove(d.client, long))
  const circuit = slow ? long : quick
  const low = await Promise.all(Array.from({ length: flood }, () => submit(d.client, circuit, { priority: 1 })))
  let running = true
  const ends = Promise.all(low.map(async ({ job_id }) => right(circuit, await call(d.client, 'AwaitProof', { job_id })))).finally(() => (running = false))
  const urgent = []
  while (running) {
    urgent.push(await right(quick, await prove(d.client, quick, { priority: 4 })))
    await Promise.race([sleep(interval), ends])
  }
  const longest = Math.max(...(await ends).map(r => r.gpu_compute_ms)), worst = Math.max(...urgent.map(r => r.queue_wait_ms))
  say(`${urgent.length} urgent jobs in a flood of ${flood}: longest wait ${worst} ms, longest part ${longest} ms; all ${flood} of the flood done`)
  assert.ok(urgent.length > 3)
  assert.ok(worst <= longest + 20, 'an urgent job waited for more than one part') // 20 ms: the engine's thread waits for a CPU too
  await d.stop()
})

test('100 submits against a capacity of 10: ten accepted, ninety refused within 50 ms each', async () => {
  const longer = makeLonger()
  const d = await new Daemon(cuzkd, [...longer.flags, '--srs.preload', 'longer', '--limits.queued_jobs', '10', ...memory], { env }).ready()
  const clients = Array.from({ length: 4 }, () => connect(d.addresses[0]))
  // How long this client and the daemon's threads, those that compute not counted, have stood ready without a CPU: the machine's part.
  const tasks = [`/proc/self/task/${process.pid}`, ...d.tasks().filter(t => fs.readFileSync(`${t}/comm`, 'utf8').trim() !== 'cuzk-pool')]
  const waited = () => tasks.reduce((sum, t) => sum + Number(fs.readFileSync(`${t}/schedstat`, 'utf8').split(' ')[1]) / 1e6, 0)
  const one = async client => {
    const start = performance.now(), before = waited()
    const answer = await submit(client, longer).catch(e => e)
    return { answer, ms: performance.now() - start, waited: waited() - before }
  }
  const round = async () => {
    await call(d.client, 'PreloadSRS', { circuit_id: 'longer' })
    const outcome = (await Promise.all(clients.map(async client => {
      const list = []
      for (let i = 0; i < 25; i++) list.push(await one(client))
      return list
    }))).flat()
    const accepted = outcome.filter(o => o.answer.job_id), rest = outcome.filter(o => !o.answer.job_id)
    for (const { answer } of rest) {
      assert.equal(grpc.status[answer.code], 'RESOURCE_EXHAUSTED', answer.message)
      assert.match(answer.details, /10 jobs are waiting or running; the queue takes 10/)
    }
    for (const { answer } of accepted) await call(d.client, 'CancelProof', { job_id: answer.job_id })
    const late = rest.filter(o => o.ms > (sanitized ? 1000 : 50) + (slow ? 0 : o.waited)) // in full size the machine has nothing else to do
    return { accepted: accepted.length, refused: rest.length, slowest: Math.max(...rest.map(o => o.ms)), late: late.length, waited: Math.max(...rest.map(o => o.waited)) }
  }
  const rounds = []
  for (let i = 0; i < (sanitized ? 3 : 5); i++) rounds.push(await round())
  say(`of 100 submits ${rounds.map(r => r.accepted)} were accepted, ${rounds.map(r => r.refused)} refused, the slowest refusal after ${rounds.map(r => r.slowest.toFixed(1))} ms, of which threads waited for a CPU at most ${rounds.map(r => r.waited.toFixed(1))} ms (${rounds.length} rounds)`)
  for (const r of rounds) assert.deepEqual([r.accepted, r.refused, r.late], [10, 90, 0])
  clients.forEach(c => c.close())
  await d.stop()
})

// The jobs come over the lives of the daemon, so that no kill meets a run that is over; one kill in five meets a daemon that starts.
test('kill -9 at random moments: every job has one result, and it is right', async () => {
  const kills = slow ? 50 : 8, jobs = slow ? 100 : 30
  const data = at('killed'), args = [...quick.flags, ...other.flags, ...memory, '--data', data]
  const results = new Map(), names = new Map() // by request: the proof, the job's id
  const met = { starting: 0, waiting: 0, lost: 0 }
  const circuitOf = i => (i % 2 ? quick : other)
  // One job's client, through all lives of the daemon: it asks until it has a result.
  const client = async (i, life) => {
    const { job_id } = await submit(life.client, circuitOf(i), { request_id: `r${i}`, durable: 1 })
    if (names.has(i)) assert.equal(job_id, names.get(i), 'an accepted job was forgotten')
    names.set(i, job_id)
    const r = await right(circuitOf(i), await call(life.client, 'AwaitProof', { job_id }))
    if (results.has(i)) assert.ok(results.get(i).equals(r.proof), 'a job has two results')
    results.set(i, r.proof)
  }
  for (let k = 0; k <= kills; k++) {
    const life = new Daemon(cuzkd, args, { env }), last = k === kills
    if (!last && random() < 0.2) {
      await sleep(random() * 100)
      met.starting++
    } else {
      await life.ready()
      const known = Math.ceil(jobs * (k + 1) / (kills + 1))
      const all = Promise.all(Array.from({ length: known }, (_, i) =>
        // in every life some jobs that have ended ask again: the answer must be the same
        last || !results.has(i) || random() < 0.1 ? client(i, life).catch(e => { if (last || grpc.status[e.code] !== 'UNAVAILABLE') throw e; met.lost++ }) : null))
      if (last) {
        await all
        assert.equal(await metric(life.client, 'cuzk_proofs_failed_total'), 0)
        await life.stop()
        break
      }
      await sleep(random() * 60)
      if (names.size > results.size) met.waiting++
      life.signal('SIGKILL')
      await life.ended
      life.client.close()
      await all
      continue
    }
    life.signal('SIGKILL')
    await life.ended
  }
  assert.equal(results.size, jobs)
  assert.equal(new Set([...names.values()]).size, jobs)
  assert.equal(new Set([...results.values()].map(p => p.toString('hex'))).size, jobs)
  // The journal has each job once, and done; no input is left.
  const rows = execFileSync('python3', ['-c', 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute("SELECT count(*), count(DISTINCT request_id), sum(end = 1) FROM jobs").fetchone())',
    `${data}/journal.sqlite`], { encoding: 'utf8' })
  assert.equal(rows.trim(), `${jobs} ${jobs} ${jobs}`)
  assert.deepEqual(fs.readdirSync(`${data}/payloads`), [])
  say(`${kills} kills in the run of ${jobs} jobs: ${met.starting} while the daemon started, ${met.waiting} with accepted jobs unfinished, ${met.lost} calls cut; ` +
    `${results.size} results, each once in the journal, each verified`)
  assert.ok(met.waiting >= kills / 4)
})

test('a fault in one of fifty proofs: right proofs alone, and counters that agree', async () => {
  const jobs = slow ? 1000 : 150
  for (const [what, fault] of [['a lost device', `${26 * 50} 16 0`], ['a wrong sum', '0 0 251']]) {
    const d = await new Daemon(cuzkdFault, [...quick.flags, ...memory, '--engine.backend', 'fault', '--engine.lanes', '2', '--jobs.attempts', '8',
      '--jobs.lane_strikes', '0'], { env: { ...env, CUZK_FAULT: fault } }).ready()
    let next = 0
    await Promise.all(Array.from({ length: 16 }, async () => { while (next++ < jobs) await right(quick, await prove(d.client, quick)) }))
    const [done, failed, attempts, retries, wrong, lost] = await Promise.all(['proofs_completed', 'proofs_failed', 'attempts', 'retries', 'verify_failures', 'lane_failures']
      .map(n => metric(d.client, `cuzk_${n}_total`)))
    say(`${what}: ${done} right proofs, ${attempts} attempts, ${retries} retries, ${lost} lost devices, ${wrong} wrong proofs kept back`)
    assert.deepEqual([done, failed, attempts], [jobs, 0, jobs + retries])
    assert.deepEqual(fault.startsWith('0') ? [wrong, lost] : [lost, wrong], [retries, 0])
    assert.ok(retries > 0 && Math.abs(retries / attempts - 0.02) < (slow ? 0.005 : 0.015), 'the fault does not come in one of fifty attempts')
    await d.stop()
  }
})

test('soak: many small proofs for many clients; nothing grows', async () => {
  const total = slow ? Number(process.env.CUZK_SOAK ?? 20000) : sanitized ? 100 : 600, clients = slow ? 32 : 8
  const porep = slow ? porepTools(cuzk, env) : null, params = porep?.made()
  const large = new Set(slow ? Array.from({ length: total >= 5000 ? 5 : 1 }, (_, k) => 5 + Math.floor(k * total / 5)) : []) // of PoRep: 20 s of a CPU each
  const d = await new Daemon(cuzkd, [...quick.flags, ...other.flags, ...memory, '--engine.lanes', String(availableParallelism()), '--jobs.results', '100',
    '--data', at('soak'), ...(porep ? ['--params', params] : [])], { env: { ...env, FIL_PROOFS_PARAMETER_CACHE: at('none') } }).ready()
  const lines = [], start = Date.now()
  let next = 0, done = 0, running = 0, durable = 0
  const look = () => {
    const line = { done, anonymous: d.anonymous(), descriptors: d.descriptors(), threads: d.threads(), alone: running === 0 }
    lines.push(line)
    say(`${String(done).padStart(6)} proofs ${String(Math.round((Date.now() - start) / 1000)).padStart(5)} s   resident ${(d.rss() / 1e6).toFixed(1)} MB, ` +
      `of it not of files ${(line.anonymous / 1e6).toFixed(1)} MB   descriptors ${line.descriptors}   threads ${line.threads}${running ? '   a PoRep runs' : ''}`)
  }
  const one = async (client, i) => {
    if (large.has(i)) {
      running++
      const file = porep.c1(i), { result } = await call(client, 'Prove', { submit: porep.job(fs.readFileSync(file)) })
      running--
      assert.equal(result.status, 'COMPLETED', result.error_message)
      porep.verify(file, result.proof, params)
      return
    }
    const circuit = random() < 0.5 ? quick : other
    const more = { priority: 1 + Math.floor(random() * 4), durable: random() < 0.1 ? 1 : 0 }
    durable += more.durable
    await right(circuit, random() < 0.7 ? await prove(client, circuit, { ...more, request_id: `soak-${i}` })
      : await call(client, 'AwaitProof', { job_id: (await submit(client, circuit, more)).job_id }))
  }
  await Promise.all(Array.from({ length: clients }, async () => {
    let client = connect(d.addresses[0])
    for (let i; (i = next++) < total;) {
      while (total < 5000 && i >= total / 2 && running) await sleep(100) // so that a short soak has lines to compare, too
      await one(client, i)
      if (random() < 0.02) { // a client that goes and comes again
        client.close()
        client = connect(d.addresses[0])
      }
      if (++done % (total / 20) === 0) look()
    }
    client.close()
  }))
  assert.equal(done, total)
  assert.equal(await metric(d.client, 'cuzk_proofs_completed_total'), total)
  for (const name of ['cuzk_proofs_failed_total', 'cuzk_retries_total', 'cuzk_journal_failures_total']) assert.equal(await metric(d.client, name), 0, name)
  // From a quarter on, when all that is kept is there, nothing may grow.  A PoRep's own memory is no growth: lines beside none are compared.
  const clean = lines.filter(l => l.alone && l.done >= total / 4), from = clean[0], to = clean.at(-1)
  const grown = to.anonymous - from.anonymous
  say(`${total} proofs, all verified, ${large.size} of them PoRep, ${durable} durable; resident, not of files: ${(grown / 1e6).toFixed(1)} MB more at ${to.done} than at ${from.done}`)
  assert.ok(clean.length > 2, 'too few lines to compare')
  if (!sanitized) assert.ok(grown < 8e6, `the resident set has grown by ${grown} bytes`)
  assert.ok(to.descriptors <= from.descriptors + clients && to.threads <= from.threads + 2, 'descriptors or threads have grown')
  await d.stop()
})

test('every proof was verified outside of the daemon', async () => {
  say(`${checker.checked} proofs verified`)
  assert.ok(checker.checked > 0 && !checker.waiting.length)
  checker.end()
})

await run()
