// The service as an independent client meets it, with the engine of fake_engine.c behind it.
//
//   node test_wire.mjs CUZKD_FAKE [CASE...]
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { createRequire } from 'node:module'
import { Daemon, assert, call, connect, connectHealth, grpc, refused, run, sleep, test, until, work } from './client.mjs'

const program = process.argv[2]
const socket = `unix://${work}/d.sock`
const sanitized = process.env.CUZK_SANITIZED === '1'
const main = await new Daemon(program, [
  '--listen', `127.0.0.1:0,${socket}`, '--circuit', 'small=/keys/small.zkey', '--circuit', 'porep-2k=/keys/porep.params', '--preload', 'small',
  '--limits.queued_jobs', '10', '--limits.in_flight', '1GiB',
]).ready()
const client = main.client
const witness = text => Buffer.from(text)
const small = (text, more = {}) => ({ circuit: 'small', witness: witness(text), ...more })
const fnv = bytes => {
  let h = 14695981039346656037n
  for (const b of bytes) h = ((h ^ BigInt(b)) * 1099511628211n) & 0xffffffffffffffffn
  return h.toString(16).padStart(16, '0')
}
const submit = async (text, more) => (await call(client, 'SubmitProof', small(text, more))).job_id
const awaited = (job_id, timeout_ms = 0) => call(client, 'AwaitProof', { job_id, timeout_ms })
const cancel = job_id => call(client, 'CancelProof', { job_id })

// Bytes as they are, past the client's own encoder.
const raw = (method, bytes, address = main.addresses[0]) => {
  const c = new grpc.Client(address.replace('unix://', 'unix:'), grpc.credentials.createInsecure(), { 'grpc.max_send_message_length': -1 })
  return new Promise((resolve, reject) =>
    c.makeUnaryRequest(method[0] === '/' ? method : `/cuzk.v1.ProvingEngine/${method}`, b => b, b => b, bytes, (e, a) => (c.close(), e ? reject(e) : resolve(a))))
}

test('Prove answers with the proof, the JSON and the times', async () => {
  const { result } = await call(client, 'Prove', { submit: small('xyz', { request_id: 'a' }) })
  assert.equal(result.status, 'COMPLETED')
  assert.equal(result.proof.toString(), `3 bytes, digest ${fnv(witness('xyz'))}`)
  assert.equal(JSON.parse(result.result_json).proof, 'small')
  assert.equal(result.gpu_compute_ms, 8)
  assert.equal(result.total_ms, 12)
  assert.match(result.job_id, /^[0-9a-f]{32}$/)
  assert.equal(result.error_message, '')
})

test('SubmitProof and AwaitProof, also of a job that has ended', async () => {
  const job = await submit('sleep 50')
  assert.equal((await awaited(job)).status, 'COMPLETED')
  assert.equal((await awaited(job)).job_id, job)
})

test('AwaitProof that times out is TIMEOUT, and the job goes on', async () => {
  const job = await submit('sleep 400')
  const a = await awaited(job, 30)
  assert.equal(a.status, 'TIMEOUT')
  assert.equal(a.proof.length, 0)
  assert.equal((await awaited(job)).status, 'COMPLETED')
})

test('a job that fails is FAILED with its cause, not a gRPC error', async () => {
  const { result } = await call(client, 'Prove', { submit: small('fail') })
  assert.equal(result.status, 'FAILED')
  assert.equal(result.error_code, 'UNSATISFIED')
  assert.match(result.error_message, /constraint 7/)
  assert.equal(result.proof.length, 0)
  const late = await cancel(result.job_id) // nothing is left to be cancelled
  assert.deepEqual([late.ended, late.was_running], ['FAILED', false])
})

test('CancelProof: was_running, then CANCELLED for all that wait', async () => {
  const job = await submit('hang')
  const waiting = awaited(job)
  await sleep(30)
  const { was_running, ended } = await cancel(job)
  assert.deepEqual([was_running, ended], [true, 'UNKNOWN'])
  assert.equal((await waiting).status, 'CANCELLED')
  assert.equal((await cancel(job)).was_running, false)
})

test('jobs and circuits that are not there are NOT_FOUND', async () => {
  await refused('NOT_FOUND', /no such job/, awaited('0123'))
  await refused('NOT_FOUND', /no such job|no job/, awaited('x'.repeat(5000)))
  await refused('NOT_FOUND', /no such job/, cancel('0123'))
  await refused('NOT_FOUND', /no such circuit/, call(client, 'PreloadSRS', { circuit_id: 'nothing' }))
  await refused('NOT_FOUND', /no such circuit/, call(client, 'EvictSRS', { circuit_id: 'nothing' }))
  await refused('NOT_FOUND', /no circuit 'other'/, call(client, 'SubmitProof', { circuit: 'other', witness: witness('x') }))
})

test('PreloadSRS and EvictSRS', async () => {
  assert.deepEqual(await call(client, 'EvictSRS', { circuit_id: 'small' }), { was_loaded: true, freed_bytes: 4096 })
  assert.deepEqual(await call(client, 'EvictSRS', { circuit_id: 'small' }), { was_loaded: false, freed_bytes: 0 })
  assert.deepEqual(await call(client, 'PreloadSRS', { circuit_id: 'small' }), { already_loaded: false, load_time_ms: 17 })
  assert.deepEqual(await call(client, 'PreloadSRS', { circuit_id: 'small' }), { already_loaded: true, load_time_ms: 0 })
})

test('GetStatus shows lanes, keys, queues and memory', async () => {
  const job = await submit('hang')
  const s = await call(client, 'GetStatus', {}, { deadline: 5000 })
  await cancel(job)
  assert.equal(s.gpus[0].name, 'fake 0')
  assert.equal(s.gpus[0].current_job_id, job)
  assert.deepEqual(s.loaded_srs.map(k => [k.circuit_id, k.tier]), [['small', 'HOT'], ['porep-2k', 'COLD']])
  assert.deepEqual(s.queues, [{ proof_kind: 'circom', pending: 1, in_progress: 0 }])
  assert.ok(s.total_proofs_completed >= 1 && s.total_proofs_failed >= 1)
  assert.deepEqual([s.memory_bytes, s.memory_limit_bytes, s.draining], [80, 800, false])
})

test('GetMetrics is Prometheus text with the names that operators know', async () => {
  const { prometheus_text } = await call(client, 'GetMetrics', {})
  for (const name of ['cuzk_proofs_completed_total', 'cuzk_proofs_failed_total', 'cuzk_uptime_seconds', 'cuzk_queue_depth',
    'cuzk_proofs_completed{proof_kind="circom"}', 'cuzk_proofs_failed{proof_kind="circom"}', 'cuzk_proof_duration_seconds_sum',
    'cuzk_proof_duration_seconds_count', 'cuzk_running_jobs', 'cuzk_gpu_workers'])
    assert.match(prometheus_text, new RegExp(`^${name.replace(/[{}]/g, '\\$&')} [0-9.e+-]+$`, 'm'))
  for (const line of prometheus_text.trimEnd().split('\n')) assert.match(line, /^(# (HELP|TYPE) \S+ .+|[a-z_]+(\{[a-z_]+="[^"]*"\})? \S+)$/)
})

test('a PoRep request reaches the engine with its circuit and its fields', async () => {
  const hash = byte => Buffer.alloc(32, byte)
  const { result } = await call(client, 'Prove', { submit: {
    proof_kind: 1, sector_size: 2048, registered_proof: 5, vanilla_proof: witness('{"SectorNum":1}'), sector_number: 1, miner_id: 1000,
    partition_index: 3, randomness: hash(1), comm_r_old: hash(2), comm_r_new: hash(3), comm_d_new: hash(4), priority: 4 } })
  assert.equal(result.status, 'COMPLETED')
  const text = JSON.parse(result.result_json)
  assert.equal(text.proof, 'porep-2k')
  assert.equal(text.publicSignals[0], '4')
  const number = n => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(n)); return b }
  assert.equal(text.parameters, Buffer.concat([number(5), number(1), number(1000), number(3), hash(1), hash(2), hash(3), hash(4)]).toString('hex'))
})

test('kinds that are not built are UNIMPLEMENTED, by name', async () => {
  for (const [proof_kind, name] of [[2, 'SNAP_DEALS_UPDATE'], [3, 'WINDOW_POST_PARTITION'], [4, 'WINNING_POST']])
    await refused('UNIMPLEMENTED', new RegExp(name), call(client, 'Prove', { submit: { proof_kind, sector_size: 2048, vanilla_proofs: [witness('x')] } }))
})

test('wrong values and missing fields are INVALID_ARGUMENT, and the text names them', async () => {
  const bad = (pattern, request) => refused('INVALID_ARGUMENT', pattern, call(client, 'SubmitProof', request))
  await bad(/proof_kind 5/, { proof_kind: 5 })
  await bad(/proof_kind 4294967295/, { proof_kind: 4294967295 })
  await bad(/priority 9/, small('x', { priority: 9 }))
  await bad(/durable 3/, small('x', { durable: 3 }))
  await bad(/neither a proof_kind nor a circuit/, {})
  await bad(/witness is missing/, { circuit: 'small' })
  await bad(/vanilla_proof is missing/, { proof_kind: 1, sector_size: 2048 })
  await bad(/sector_size 2049/, { proof_kind: 1, sector_size: 2049, vanilla_proof: witness('x') })
  await bad(/randomness has 32 bytes, not 31/, small('x', { randomness: Buffer.alloc(31) }))
  await bad(/request_id is longer/, small('x', { request_id: 'r'.repeat(256) }))
  await bad(/request_id has a control character/, small('x', { request_id: 'a\u0000b' }))
  await bad(/circuit is longer/, { circuit: 'c'.repeat(64), witness: witness('x') })
  await bad(/not a \.wtns/, small('refuse'))
  await refused('INVALID_ARGUMENT', /submit is missing/, call(client, 'Prove', {}))
  assert.equal((await call(client, 'Prove', { submit: small('x', { request_id: 'r'.repeat(255), from_the_future: 'passed over' }) })).result.status, 'COMPLETED')
})

// Every text field of every method: a NUL would end it early, other control characters would end the log's line.
test('a text with a control character, or that is not UTF-8, is INVALID_ARGUMENT in every field of every method', async () => {
  const text = (field, bytes) => {
    const key = []
    for (let n = field * 8 + 2; ; n >>= 7) { key.push(n > 127 ? n & 127 | 128 : n); if (n < 128) break }
    return Buffer.concat([Buffer.from([...key, bytes.length]), bytes])
  }
  const cases = [
    ['AwaitProof', 1, 'job_id'], ['CancelProof', 1, 'job_id'], ['PreloadSRS', 1, 'circuit_id'], ['EvictSRS', 1, 'circuit_id'],
    ['SubmitProof', 1, 'request_id'], ['SubmitProof', 50, 'circuit'], ['SubmitProof', 54, 'witness_file'],
    ['Prove', 1, 'request_id', 1], ['Prove', 50, 'circuit', 1], ['Prove', 54, 'witness_file', 1],
    ['/grpc.health.v1.Health/Check', 1, 'service'], ['/grpc.health.v1.Health/Watch', 1, 'service'],
    ...['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo'].flatMap(m => [
      [m, 1, 'host'], [m, 3, 'file_by_filename'], [m, 4, 'file_containing_symbol'], [m, 6, 'all_extension_numbers_of_type'], [m, 7, 'list_services'],
      [m, 1, 'containing_type', 5]]),
  ]
  for (const [method, field, name, outer] of cases)
    for (const [bad, what] of [['small\0er', 'a control character at byte 5'], ['a\nb', 'a control character at byte 1'], ['\x7f', 'a control character at byte 0'],
      ['caf\xe9', 'not UTF-8 at byte 3'], ['\xed\xa0\x80', 'not UTF-8 at byte 0'], ['ok\xf0\x9f\x98', 'not UTF-8 at byte 2']]) {
      const message = text(field, Buffer.from(bad, 'latin1'))
      await refused('INVALID_ARGUMENT', new RegExp(`^${name} (has|is) ${what}`), raw(method, outer ? text(outer, message) : message))
    }
  await refused('NOT_FOUND', /no such circuit/, raw('PreloadSRS', text(1, Buffer.from('größe')))) // UTF-8 is a name like others
})

test('a job larger than the budget is RESOURCE_EXHAUSTED with both numbers', async () => {
  await refused('RESOURCE_EXHAUSTED', /900 bytes.*800/, call(client, 'Prove', { submit: small('large') }))
})

test('bytes that are no message are INVALID_ARGUMENT, and the daemon goes on', async () => {
  for (const hex of ['ff', 'ffffffffffffffffffffff01', '0a', '0aff', '07', '08', '0b00', '52ffffffffffffffff7f00', '0affffffff0f61', '00', '1080808080808080808002']) {
    const bytes = Buffer.from(hex, 'hex')
    await refused('INVALID_ARGUMENT', /byte|bits|field/, raw('SubmitProof', bytes))
    await raw('CancelProof', bytes).then(() => assert.fail('no error'), e => assert.ok(['INVALID_ARGUMENT', 'NOT_FOUND'].includes(grpc.status[e.code])))
  }
  let state = 12345 // the same bytes in every run
  const random = n => Buffer.from(Array.from({ length: n }, () => (state = (state * 1103515245 + 12345) & 0x7fffffff) >> 16 & 255))
  for (let i = 0; i < 60; i++) {
    const e = await raw(['SubmitProof', 'Prove', 'AwaitProof', 'CancelProof'][i % 4], random(1 + i * 7)).then(() => null, x => x)
    if (e) assert.ok(['INVALID_ARGUMENT', 'NOT_FOUND', 'UNIMPLEMENTED'].includes(grpc.status[e.code]), e.message)
  }
  await refused('INVALID_ARGUMENT', /64 KiB/, raw('GetStatus', Buffer.alloc(70000)))
  await refused('UNIMPLEMENTED', /no such method/, raw('Nonsense', Buffer.alloc(1)))
  assert.equal((await call(client, 'Prove', { submit: small('still here') })).result.status, 'COMPLETED')
})

test('connections that speak no HTTP/2 hurt nobody', async () => {
  const [host, port] = main.addresses[0].split(':')
  for (const text of ['GET / HTTP/1.1\r\n\r\n', '\0'.repeat(4096), 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + '\xff'.repeat(64), '']) {
    const s = net.connect(Number(port), host)
    s.on('error', () => {})
    await new Promise(r => s.on('connect', r))
    s.write(Buffer.from(text, 'latin1'))
    await sleep(20)
    s.destroy()
  }
  assert.equal((await call(client, 'Prove', { submit: small('still here 2') })).result.status, 'COMPLETED')
})

test('a payload of 200 MB, copied once', async () => {
  const bytes = Buffer.alloc(sanitized ? 20e6 : 200e6)
  for (let i = 0; i < bytes.length; i += 4096) bytes.writeUInt32LE(i, i)
  const before = main.rss()
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, main.rss())), 5)
  const start = Date.now()
  const { result } = await call(client, 'Prove', { submit: { circuit: 'small', witness: bytes } })
  clearInterval(timer)
  assert.match(result.proof.toString(), new RegExp(`^${bytes.length} bytes, digest [0-9a-f]{16}$`))
  console.log(`        ${bytes.length / 1e6} MB: ${Date.now() - start} ms with the client, resident ${Math.round(before / 1e6)} -> at most ${Math.round(peak / 1e6)} MB`)
  if (!sanitized) assert.ok(peak - before < 330e6, `took ${peak - before} bytes`)
})

test('a message of 300 MB is RESOURCE_EXHAUSTED', async () => {
  const c = connect(main.addresses[0])
  await refused('RESOURCE_EXHAUSTED', /larger than max|resource|RST_STREAM|quota/i, call(c, 'Prove', { submit: { circuit: 'small', witness: Buffer.alloc(300e6, 7) } }))
  c.close()
  assert.equal((await call(client, 'Prove', { submit: small('still here 3') })).result.status, 'COMPLETED')
})

test('too many bytes in flight are RESOURCE_EXHAUSTED, and room comes back', async () => {
  const d = await new Daemon(program, ['--circuit', 'small=/k', '--limits.in_flight', '16MiB']).ready()
  const clients = Array.from({ length: 6 }, () => connect(d.addresses[0]))
  const send = (c, bytes) => call(c, 'Prove', { submit: { circuit: 'small', witness: Buffer.alloc(bytes, 7) } })
  const ends = await Promise.all(clients.map(c => send(c, 12e6).then(a => a.result.status, e => `${grpc.status[e.code]}: ${e.details}`)))
  const taken = ends.filter(e => e === 'COMPLETED').length
  console.log(`        of six requests of 12 MB into 16 MiB ${taken} were taken`)
  // gRPC core, short of the quota, may also close the connection, which these clients share: they are told to try again.
  assert.ok(taken < 6 && ends.every(e => /^(COMPLETED|RESOURCE_EXHAUSTED|UNAVAILABLE)/.test(e)), `${ends}`)
  for (const c of clients) {
    let end
    for (let tries = 0; tries < 100 && end !== 'COMPLETED'; tries++) {
      if (tries) await sleep(100)
      end = await send(c, 1e6).then(a => a.result.status, e => grpc.status[e.code])
      assert.match(end, /^(COMPLETED|RESOURCE_EXHAUSTED|UNAVAILABLE)$/)
    }
    assert.equal(end, 'COMPLETED')
  }
  assert.equal(d.exit, undefined)
  clients.forEach(c => c.close())
  await d.stop()
})

test('a deadline is honoured, and reaches the engine', async () => {
  const start = Date.now()
  await refused('DEADLINE_EXCEEDED', /.*/, call(client, 'Prove', { submit: small('hang', { request_id: 'slow' }) }, { deadline: 300 }))
  assert.ok(Date.now() - start < 2500)
  const told = Number(JSON.parse((await call(client, 'Prove', { submit: small('quick') }, { deadline: 60000 })).result.result_json).publicSignals[1])
  assert.ok(told > 50000 && told <= 60000, `${told}`)
  const { job_id, joined } = await call(client, 'SubmitProof', small('hang', { request_id: 'slow' }))
  assert.equal(joined, true) // the job outlives its client
  await cancel(job_id)
})

test('a client that cancels gets CANCELLED, and the job goes on unless it was configured otherwise', async () => {
  const running = call(client, 'Prove', { submit: small('hang', { request_id: 'left' }) }, { onCall: c => setTimeout(() => c.cancel(), 100) })
  await refused('CANCELLED', /.*/, running)
  const { job_id, joined } = await call(client, 'SubmitProof', small('hang', { request_id: 'left' }))
  assert.equal(joined, true)
  assert.equal((await cancel(job_id)).was_running, true)
})

test('with cancel_when_alone a job ends with its last client', async () => {
  const d = await new Daemon(program, ['--circuit', 'small=/k', '--jobs.cancel_when_alone', 'true']).ready()
  const [host, port] = d.addresses[0].split(':'), sockets = []
  const between = net.createServer(s => { // what can be cut
    const on = net.connect(Number(port), host).on('error', () => {})
    sockets.push(s.on('error', () => {}), on)
    s.pipe(on).pipe(s)
  })
  await new Promise(r => between.listen(0, '127.0.0.1', r))
  const first = connect(`127.0.0.1:${between.address().port}`), request = small('hang', { request_id: 'x' })
  const a = call(first, 'Prove', { submit: request }).catch(e => e)
  const pending = async () => (await call(d.client, 'GetStatus', {})).queues[0].pending
  await until('the first one waits', async () => (await pending()) === 1)
  await call(d.client, 'Prove', { submit: request }, { onCall: c => setTimeout(() => c.cancel(), 200) }).catch(e => e)
  assert.equal(await pending(), 1)
  between.close()
  sockets.forEach(x => x.destroy()) // the connection is lost
  await until('the job is cancelled', async () => (await pending()) === 0)
  assert.equal(grpc.status[(await a).code], 'UNAVAILABLE')
  first.close()
  await d.stop()
})

test('the same id and content twice is one job with two answers', async () => {
  const request = small('sleep 200', { request_id: 'porep-1000-1' })
  const [a, b] = await Promise.all([call(client, 'Prove', { submit: request }), call(client, 'Prove', { submit: request })])
  assert.equal(a.result.job_id, b.result.job_id)
  assert.equal(a.result.proof.toString(), b.result.proof.toString())
  const c = await call(client, 'Prove', { submit: request }) // a retry after the end gets the result
  assert.equal(c.result.job_id, a.result.job_id)
})

test('the same id with other content at the same time is two jobs', async () => {
  const request = text => ({ submit: small(text, { request_id: 'porep-1000-1' }) })
  const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => call(client, 'Prove', request(`sleep 10${i}`))))
  assert.equal(new Set(answers.map(a => a.result.job_id)).size, 6)
  answers.forEach((a, i) => assert.equal(a.result.proof.toString(), `9 bytes, digest ${fnv(witness(`sleep 10${i}`))}`))
})

test('100 submits against a capacity of 10: ten accepted, ninety refused at once', async () => {
  await call(client, 'GetStatus', {})
  const outcome = await Promise.all(Array.from({ length: 100 }, async (_, i) => {
    const start = performance.now()
    const result = await call(client, 'SubmitProof', small(`hang ${i}`)).catch(e => e)
    return { result, ms: performance.now() - start }
  }))
  const accepted = outcome.filter(o => o.result.job_id), rest = outcome.filter(o => !o.result.job_id)
  assert.equal(accepted.length, 10)
  for (const { result } of rest) {
    assert.equal(grpc.status[result.code], 'RESOURCE_EXHAUSTED')
    assert.match(result.details, /the queue is full: 10 jobs of 10/)
  }
  const slowest = Math.max(...rest.map(o => o.ms))
  console.log(`        90 refused, the slowest after ${slowest.toFixed(1)} ms`)
  for (const { result } of accepted) await cancel(result.job_id)
  const one = await Promise.all(Array.from({ length: 10 }, () => call(client, 'SubmitProof', small('hang'))))
  const start = performance.now()
  await refused('RESOURCE_EXHAUSTED', /queue is full/, call(client, 'SubmitProof', small('one too many')))
  assert.ok(performance.now() - start < (sanitized ? 500 : 50))
  for (const { job_id } of one) await cancel(job_id)
})

test('a unix socket serves the same, closed to strangers', async () => {
  const c = connect(socket)
  assert.equal((await call(c, 'Prove', { submit: small('through a socket') })).result.status, 'COMPLETED')
  assert.equal(fs.statSync(`${work}/d.sock`).mode & 0o777, 0o660)
  c.close()
})

test('grpc.health.v1: Check, Watch and an unknown service', async () => {
  const h = connectHealth(main.addresses[0])
  const check = service => new Promise((ok, no) => h.Check({ service }, (e, a) => (e ? no(e) : ok(a.status))))
  assert.equal(await check(''), 'SERVING')
  assert.equal(await check('cuzk.v1.ProvingEngine'), 'SERVING')
  await refused('NOT_FOUND', /cuzk\.v1/, check('other'))
  for (const [service, status] of [['', 'SERVING'], ['other', 'SERVICE_UNKNOWN']]) {
    const stream = h.Watch({ service })
    stream.on('error', () => {})
    assert.equal(await new Promise(r => stream.once('data', a => r(a.status))), status)
    stream.cancel()
  }
  h.close()
})

test('server reflection lists the services and describes them', async () => {
  const { GrpcReflection } = createRequire(import.meta.url)('grpc-js-reflection-client')
  const r = new GrpcReflection(main.addresses[0], grpc.credentials.createInsecure())
  const services = await r.listServices()
  for (const s of ['cuzk.v1.ProvingEngine', 'grpc.health.v1.Health', 'grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'])
    assert.ok(services.includes(s), `${services}`)
  assert.deepEqual((await r.listMethods('cuzk.v1.ProvingEngine')).map(m => m.name).sort(),
    ['AwaitProof', 'CancelProof', 'EvictSRS', 'GetMetrics', 'GetStatus', 'PreloadSRS', 'Prove', 'SubmitProof'])
  const described = await r.getDescriptorBySymbol('cuzk.v1.ProvingEngine')
  const Reflected = described.getPackageObject().cuzk.v1.ProvingEngine
  const c = new Reflected(main.addresses[0], grpc.credentials.createInsecure())
  const status = await new Promise((ok, no) => c.GetStatus({}, (e, a) => (e ? no(e) : ok(a))))
  assert.equal(status.gpus[0].name, 'fake 0')
  c.close()
  await assert.rejects(r.getDescriptorBySymbol('cuzk.v1.Nothing'), /no such/)
})

test('1,000 calls at once on one connection', async () => {
  const count = sanitized ? 50 : 1000 // ThreadSanitizer takes seconds to pass over what it suspects inside gRPC
  const answers = await Promise.all(Array.from({ length: count }, (_, i) => call(client, i % 2 ? 'GetStatus' : 'GetMetrics', {})))
  assert.equal(answers.length, count)
})

test('descriptors and threads are flat over 300 connections', async () => {
  const count = () => [main.descriptors(), main.threads()]
  const round = async n => {
    for (let i = 0; i < n; i++) {
      const c = connect(main.addresses[0])
      await call(c, 'GetStatus', {})
      c.close()
    }
    await sleep(200)
  }
  await round(20)
  const before = count()
  await round(sanitized ? 30 : 300)
  const after = count()
  assert.ok(after[0] <= before[0] + 3 && after[1] <= before[1] + 3, `${before} -> ${after}`)
})

test('calls on more connections than allowed are RESOURCE_EXHAUSTED; a slot is free again when one ends', async () => {
  const d = await new Daemon(program, ['--limits.connections', '3', '--circuit', 'small=/k']).ready()
  const clients = [d.client, connect(d.addresses[0]), connect(d.addresses[0])]
  for (const c of clients) await call(c, 'GetStatus', {})
  const surplus = Array.from({ length: 20 }, () => connect(d.addresses[0]))
  for (const c of surplus) await refused('RESOURCE_EXHAUSTED', /there are 3 connections already/, call(c, 'GetStatus', {}))
  await refused('RESOURCE_EXHAUSTED', /there are 3 connections already/, call(surplus[0], 'Prove', { submit: small('y'.repeat(1e6)) }))
  assert.match(d.log, /further connections are refused: there are 3/)
  const raws = Array.from({ length: 150 }, () => net.connect(Number(d.addresses[0].split(':')[1]), '127.0.0.1').on('error', () => {}))
  let closed = 0
  raws.forEach(s => s.on('close', () => closed++))
  await until('what is too much is closed', () => closed >= 80)
  for (const c of clients) await call(c, 'GetStatus', {}) // the first three notice nothing
  raws.forEach(s => s.destroy())
  surplus.forEach(c => c.close())
  clients[2].close()
  await until('a slot is free', async () => {
    const c = connect(d.addresses[0])
    const answer = await call(c, 'GetStatus', {}).catch(() => null)
    c.close()
    return answer
  })
  clients[1].close()
  await d.stop()
})

test('out of descriptors the daemon waits, and serves again', async () => {
  const limited = path.join(work, 'limited.sh')
  fs.writeFileSync(limited, `#!/bin/sh\nulimit -n 40\nexec "${program}" "$@"\n`, { mode: 0o755 })
  const d = await new Daemon(limited, ['--circuit', 'small=/k']).ready()
  const [host, port] = d.addresses[0].split(':')
  const idle = Array.from({ length: 60 }, () => net.connect(Number(port), host).on('error', () => {}))
  await until('it has run out', () => d.log.includes('cannot accept a connection'))
  idle.forEach(s => s.destroy())
  const c = connect(d.addresses[0])
  await until('it serves again', () => call(c, 'GetStatus', {}, { deadline: 2000 }).then(() => true, () => false))
  c.close()
  await d.stop()
})

test('SIGTERM drains: new jobs are UNAVAILABLE, running ones end, health says so', async () => {
  const d = await new Daemon(program, ['--circuit', 'small=/k']).ready()
  const running = call(d.client, 'Prove', { submit: small('sleep 3000') })
  running.catch(() => {}) // told below
  await until('it runs', async () => (await call(d.client, 'GetStatus', {})).queues[0].pending === 1)
  const h = connectHealth(d.addresses[0])
  const seen = []
  h.Watch({ service: '' }).on('data', a => seen.push(a.status)).on('error', () => {})
  await until('the watch has begun', () => seen.length)
  d.signal('SIGTERM')
  await until('the watch has been told', () => seen.includes('NOT_SERVING'))
  await refused('UNAVAILABLE', /draining/, call(d.client, 'SubmitProof', small('late')))
  assert.equal((await call(d.client, 'GetStatus', {})).draining, true)
  assert.equal((await running).result.status, 'COMPLETED')
  await d.ended
  h.close()
  await d.stop()
})

test('a second SIGTERM stops at once, and a waiting client is told', async () => {
  const d = await new Daemon(program, ['--circuit', 'small=/k', '--listen', `127.0.0.1:0,unix://${work}/e.sock`]).ready()
  const running = call(d.client, 'Prove', { submit: small('hang') })
  await until('it runs', async () => (await call(d.client, 'GetStatus', {})).queues[0].pending === 1)
  d.signal('SIGTERM')
  await until('it drains', () => d.log.includes('draining: 1 jobs'))
  const start = Date.now()
  d.signal('SIGTERM')
  assert.equal((await running).result.status, 'CANCELLED')
  await d.ended
  assert.ok(Date.now() - start < 4000)
  assert.ok(!fs.existsSync(path.join(work, 'e.sock')))
  await d.stop()
})

test('an address in use, a socket left behind, an address that is none', async () => {
  const taken = new Daemon(program, ['--listen', main.addresses[0]])
  await taken.ended
  assert.equal(taken.exit.code, 4)
  assert.match(taken.log, /another process listens there/)
  const busy = new Daemon(program, ['--listen', socket])
  await busy.ended
  assert.equal(busy.exit.code, 4)
  const left = `${work}/left.sock`
  const owner = net.createServer().listen(left)
  await new Promise(r => owner.once('listening', r))
  fs.renameSync(left, `${left}.kept`)
  await new Promise(r => owner.close(r))
  const d = await new Daemon(program, ['--listen', `127.0.0.1:0,unix://${left}.kept`]).ready()
  await d.stop()
  const none = new Daemon(program, ['--listen', 'nonsense'])
  await none.ended
  assert.equal(none.exit.code, 2)
  assert.match(none.log, /not an address/)
})

test('an address that other machines can reach is warned of', async () => {
  const d = await new Daemon(program, ['--listen', '0.0.0.0:0', '--circuit', 'small=/k']).ready()
  assert.match(d.log, /without encryption/)
  await d.stop()
})

test('the daemon has taken all this well', () => main.stop())

await run()
