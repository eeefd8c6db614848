// cuzkd with its real engine under load: urgent work in a flood, a full queue, kills, faults, and hours of small proofs in little.
// Every proof that comes back is verified by checker.c.
//
//   CUZK_LOAD=fast|slow|soak node test_load.mjs CUZKD CUZK CHECKER CUZKD_FAULT [CASE...]     cuzk-client beside cuzk
import { Checker, Daemon, assert, at, call, connect, env, grpc, makeCircuit, refused, run, sanitized, sleep, test, until } from './client.mjs'
import { availableParallelism } from 'node:os'

const [cuzkd, cuzk, checkerProgram, cuzkdFault] = process.argv.slice(2)
const size = process.env.CUZK_LOAD ?? 'fast'
const slow = size === 'slow', soak = size === 'soak'
const seed = Number(process.env.CUZK_SEED ?? (Date.now() % 1e9))
let state = seed
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32)
console.log(`        seed ${seed}, ${size}`)

const quick = makeCircuit(cuzk, 'quick', 'bn254', 61)
const other = makeCircuit(cuzk, 'other', 'bls12_381', 50)
const long = makeCircuit(cuzk, 'long', 'bn254', 60, '--repeat', slow ? '1000' : sanitized ? '20' : '250') // short witness, long proof
const longer = makeCircuit(cuzk, 'longer', 'bn254', 60, '--repeat', sanitized ? '500' : '2000')
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
  const flood = sanitized ? 40 : 200, interval = slow ? 5000 : 300
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
  const d = await new Daemon(cuzkd, [...longer.flags, '--srs.preload', 'longer', '--limits.queued_jobs', '10', ...memory], { env }).ready()
  const clients = Array.from({ length: 4 }, () => connect(d.addresses[0]))
  const one = async client => {
    const start = performance.now()
    const answer = await submit(client, longer).catch(e => e)
    return { answer, ms: performance.now() - start }
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
    return { accepted: accepted.length, refused: rest.length, slowest: Math.max(...rest.map(o => o.ms)) }
  }
  const rounds = []
  for (let i = 0; i < (sanitized ? 3 : 5); i++) rounds.push(await round())
  say(`of 100 submits ${rounds.map(r => r.accepted)} were accepted, ${rounds.map(r => r.refused)} refused, the slowest refusal after ${rounds.map(r => r.slowest.toFixed(1))} ms (${rounds.length} rounds)`)
  for (const r of rounds) assert.deepEqual([r.accepted, r.refused], [10, 90])
  // The client shares the CPUs with the proof that runs and with whatever else does: the median round counts.
  assert.ok(rounds.map(r => r.slowest).sort((x, y) => x - y)[sanitized ? 1 : 2] <= (sanitized ? 1000 : 50))
  clients.forEach(c => c.close())
  await d.stop()
})

test('kill -9 at random moments: every job has one result, and it is right', async () => {
  const kills = slow ? 50 : 8, jobs = slow ? 100 : 30
  const args = [...quick.flags, ...other.flags, ...memory, '--data', at('killed')]
  const results = new Map(), names = new Map() // by request: the proof, the job's id
  let d, ended = 0, again = 0
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
    d = await new Daemon(cuzkd, args, { env }).ready()
    const life = d, last = k === kills
    const all = Promise.all(Array.from({ length: jobs }, (_, i) =>
      // in every life the jobs that have ended ask again, too: the answer must be the same
      last || !results.has(i) || random() < 0.1 ? client(i, life).catch(e => { if (last || grpc.status[e.code] !== 'UNAVAILABLE') throw e }) : null))
    if (last) {
      await all
    } else {
      await Promise.race([all, sleep(random() * (slow ? 250 : 120))])
      if (results.size === jobs) ended++
      d.signal('SIGKILL')
      await d.ended
      d.client.close()
      await all
      again++
    }
  }
  assert.equal(results.size, jobs)
  assert.equal(new Set([...names.values()]).size, jobs)
  assert.equal(new Set([...results.values()].map(p => p.toString('hex'))).size, jobs)
  say(`${again} kills in the life of ${jobs} jobs (${ended} of them after the last result): ${results.size} results, each once, each verified`)
  await d.stop()
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
    assert.ok(retries > 0)
    assert.ok(fault.startsWith('0') ? wrong === retries : wrong === 0)
    await d.stop()
  }
})

test('soak: many small proofs for many clients; nothing grows', async () => {
  const total = soak ? 20000 : sanitized ? 100 : 600, clients = soak ? 32 : 8
  const d = await new Daemon(cuzkd, [...quick.flags, ...other.flags, ...memory, '--engine.lanes', String(availableParallelism()), '--jobs.results', '100'], { env }).ready()
  const lines = [], start = Date.now()
  let next = 0, done = 0
  const look = () => {
    lines.push([done, d.rss(), d.descriptors(), d.threads()])
    say(`${String(done).padStart(6)} proofs ${String(Math.round((Date.now() - start) / 1000)).padStart(5)} s   resident ${(d.rss() / 1e6).toFixed(1)} MB   descriptors ${d.descriptors()}   threads ${d.threads()}`)
  }
  await Promise.all(Array.from({ length: clients }, async (_, c) => {
    let client = connect(d.addresses[0])
    for (let i; (i = next++) < total;) {
      const circuit = random() < 0.5 ? quick : other
      const priority = 1 + Math.floor(random() * 4)
      await right(circuit, random() < 0.7 ? await prove(client, circuit, { priority, request_id: `soak-${i}` })
        : await call(client, 'AwaitProof', { job_id: (await submit(client, circuit, { priority })).job_id }))
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
  assert.equal(await metric(d.client, 'cuzk_retries_total'), 0)
  // From a quarter on, when all that is kept is there, nothing may grow.
  const from = lines[4], to = lines.at(-1)
  const grown = to[1] - from[1]
  say(`${total} proofs, all verified; resident ${(grown / 1e6).toFixed(1)} MB more at the end than at a quarter`)
  if (!sanitized) assert.ok(grown < 8e6, `the resident set has grown by ${grown} bytes`)
  assert.ok(to[2] <= from[2] + clients && to[3] <= from[3], 'descriptors or threads have grown')
  await d.stop()
})

test('every proof was verified outside of the daemon', async () => {
  say(`${checker.checked} proofs verified`)
  assert.ok(checker.checked > 0 && !checker.waiting.length)
  checker.end()
})

await run()
