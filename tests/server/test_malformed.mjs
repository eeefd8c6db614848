// cuzkd under clients that send nonsense: damaged messages, damaged gRPC frames, damaged HTTP/2, connections that never end.
//
//   CUZK_LOAD=fast|slow node test_malformed.mjs CUZKD CUZK CHECKER
//
// Built with AddressSanitizer and UBSan (the preset dev) this is where the daemon's wire is shown to be sound: a report, or a leak at
// its exit, fails the last case.  After every kind of nonsense an honest client must get a right proof.
import http2 from 'node:http2'
import net from 'node:net'
import { Checker, Daemon, assert, call, connect, env, grpc, makeCircuit, refused, run, sanitized, seeded, sleep, test, until } from './client.mjs'

const [cuzkd, cuzk, checkerProgram] = process.argv.slice(2)
const slow = process.env.CUZK_LOAD === 'slow'
const rounds = slow ? 2000 : sanitized ? 150 : 300
const { random, below, pick, bytes } = seeded()

const circuit = makeCircuit(cuzk, 'quick', 'bn254', 61)
const checker = new Checker(checkerProgram)
const d = await new Daemon(cuzkd, [...circuit.flags, '--memory', '2GiB', '--limits.message', '1MiB', '--limits.in_flight', '16MiB', '--limits.connections', '200',
  '--daemon.drain_timeout', '1s'], { env }).ready()
const [host, port] = [d.addresses[0].split(':')[0], Number(d.addresses[0].split(':')[1])]
const answered = {} // by code: how nonsense was answered
const honest = async what => {
  const client = connect(d.addresses[0])
  let result // a starved connection may be closed by gRPC core: an honest client tries again
  for (let i = 0; !result; i++) {
    try {
      ({ result } = await call(client, 'Prove', { submit: { circuit: 'quick', witness: circuit.witness } }, { deadline: 60000 }))
    } catch (e) {
      if (i === 50 || !['UNAVAILABLE', 'RESOURCE_EXHAUSTED'].includes(grpc.status[e.code])) throw new Error(`after ${what}: ${e.message}`)
      await sleep(100)
    }
  }
  client.close()
  assert.equal(result.status, 'COMPLETED', `after ${what}: ${result.error_message}`)
  await checker.check(circuit, result.result_json)
}

// -- messages

const varint = n => {
  const out = []
  for (n = BigInt(n); ; n >>= 7n) {
    if (n < 128n) return Buffer.from([...out, Number(n)])
    out.push(Number(n & 127n) | 128)
  }
}
const field = (number, value) => typeof value === 'number' || typeof value === 'bigint' ? Buffer.concat([varint(number * 8), varint(value)])
  : Buffer.concat([varint(number * 8 + 2), varint(Buffer.byteLength(value)), Buffer.from(value)])
const submit = () => Buffer.concat([field(1, 'an-id'), field(50, 'quick'), field(51, circuit.witness), field(5, 2)])
const porep = () => Buffer.concat([field(2, 1), field(3, 2048), field(10, '{"SectorNum": 1, "Phase1Out": "AAAA", "SectorSize": 2048}'), field(20, 1), field(21, 1000), field(22, bytes(32))])
const P = '/cuzk.v1.ProvingEngine/'
const samples = [
  [`${P}SubmitProof`, submit], [`${P}SubmitProof`, porep], [`${P}Prove`, () => field(1, submit())], [`${P}Prove`, () => field(1, porep())],
  [`${P}AwaitProof`, () => Buffer.concat([field(1, '0123456789abcdef0123456789abcdef'), field(2, 50)])], [`${P}CancelProof`, () => field(1, '0123456789abcdef0123456789abcdef')],
  [`${P}GetStatus`, () => Buffer.alloc(0)], [`${P}GetMetrics`, () => Buffer.alloc(0)], [`${P}PreloadSRS`, () => field(1, 'quick')], [`${P}EvictSRS`, () => field(1, 'quick')],
  ['/grpc.health.v1.Health/Check', () => field(1, 'cuzk.v1.ProvingEngine')],
  ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', () => field(pick([1, 3, 4, 6, 7]), 'cuzk.v1.ProvingEngine')],
  ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', () => field(5, Buffer.concat([field(1, 'cuzk.v1.JobStatus'), field(2, 7)]))],
]
const damage = message => {
  let m = Buffer.from(message)
  for (let n = 1 + below(4); n > 0; n--) {
    const at = below(m.length + 1)
    const kinds = [
      () => { if (at < m.length) m[at] ^= 1 << below(8) },
      () => { if (at < m.length) m[at] = pick([0, 0x7f, 0x80, 0xff]) },
      () => { m = m.subarray(0, at) },
      () => { m = Buffer.concat([m.subarray(0, at), bytes(1 + below(20)), m.subarray(at)]) },
      () => { m = Buffer.concat([m, m.subarray(at)]) },
      () => { m = Buffer.concat([m, field(1 + below(60), pick([0, 1, 2 ** 32, 2n ** 64n - 1n, 'x'.repeat(below(300)), bytes(below(64))]))]) },
      () => { m = Buffer.concat([m, varint((1 + below(60)) * 8 + 2), varint(pick([2n ** 31n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n]))]) },
      () => { m = Buffer.concat([m, varint(below(2 ** 31)), bytes(below(16))]) },
    ]
    pick(kinds)()
  }
  return m
}

test('damaged messages of every method are answered, and none as an accident of cuzkd', async () => {
  const clients = Array.from({ length: 4 }, () => new grpc.Client(d.addresses[0], grpc.credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 }))
  for (let i = 0; i < rounds; i += 8)
    await Promise.all(Array.from({ length: 8 }, (_, j) => {
      const [method, make] = pick(samples), message = damage(make())
      return new Promise(resolve => clients[j % 4].makeUnaryRequest(method, b => b, b => b, message, new grpc.Metadata(), { deadline: Date.now() + 60000 }, e => {
        const code = e ? grpc.status[e.code] : 'OK'
        answered[code] = (answered[code] ?? 0) + 1
        assert.ok(!['INTERNAL', 'UNKNOWN', 'DEADLINE_EXCEEDED', 'UNAVAILABLE'].includes(code), `${method} ${message.toString('hex').slice(0, 400)}: ${e?.message}`)
        resolve()
      }))
    }))
  clients.forEach(c => c.close())
  await honest('damaged messages')
})

// -- frames of gRPC in sound HTTP/2

const framed = (message, { flag = 0, length = message.length } = {}) => {
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(length >>> 0, 1)
  return Buffer.concat([head, message])
}
const odd = () => {
  const [path, make] = pick(samples), message = make()
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  let body = framed(message), end = true
  const kinds = [
    () => { headers['content-type'] = pick(['application/json', 'text/html', 'application/grpc+json', 'application/grpc+', 'APPLICATION/GRPC', '']) },
    () => { delete headers['content-type'] },
    () => { headers[':method'] = pick(['GET', 'PUT', 'CONNECTED', 'OPTIONS']) },
    () => { headers[':path'] = pick(['/', '//', '/cuzk.v1.ProvingEngine', '/cuzk.v1.ProvingEngine/', `${P}nothing`, `/${'x'.repeat(4000)}`, `${P}Prove?x=1`, '/\u00ff']) },
    () => { headers['grpc-encoding'] = pick(['gzip', 'deflate', 'nothing', 'identity']) },
    () => { headers['grpc-timeout'] = pick(['banana', '-1S', '99999999999999999S', '1', '0n', '1X', '']) },
    () => { headers['x-large'] = 'x'.repeat(pick([7000, 20000, 60000])) },
    () => { headers['grpc-message-type'] = bytes(20).toString('hex'); headers['some-bin'] = '!!not base64!!' },
    () => { delete headers.te },
    () => { body = framed(message, { length: message.length + 1 + below(1000) }) },
    () => { body = framed(message, { length: pick([0xffffffff, 0x7fffffff, (1 << 20) + 1]) }) },
    () => { body = framed(message, { flag: pick([1, 2, 0xff]) }) },
    () => { body = body.subarray(0, below(body.length)) },
    () => { body = Buffer.concat([body, framed(make())]) },
    () => { body = Buffer.alloc(0) },
    () => { body = bytes(below(200)) },
    () => { body = framed(Buffer.alloc((1 << 20) + 100)) }, // over [limits] message
    () => { end = false },
  ]
  pick(kinds)()
  return { headers, body, end, reset: random() < 0.1 }
}

test('damaged gRPC frames: content types, methods, lengths, compression, streams that are reset or never end', async () => {
  for (let i = 0; i < rounds; i += 12) {
    const session = http2.connect(`http://${host}:${port}`)
    session.on('error', () => {})
    await Promise.all(Array.from({ length: 12 }, async () => {
      const { headers, body, end, reset } = odd()
      let request
      try { request = session.request(headers, { endStream: false }) } catch { return } // node's own rules
      request.on('error', () => {})
      request.on('response', h => (answered[`http ${h[':status']}`] = (answered[`http ${h[':status']}`] ?? 0) + 1))
      request.resume()
      request.write(body)
      if (reset) setTimeout(() => request.close(pick([0, 1, 8])), below(10))
      else if (end) request.end()
      await Promise.race([new Promise(resolve => request.on('close', resolve)), sleep(end ? 3000 : 30)])
      request.destroy()
    }))
    random() < 0.5 ? session.destroy() : session.close()
    session.destroy()
  }
  await honest('damaged gRPC frames')
})

// -- HTTP/2 that is none

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const frame = (type, flags, stream, payload, length = payload.length) => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(length & 0xffffff, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream >>> 0, 5)
  return Buffer.concat([head, payload])
}
const SETTINGS = frame(4, 0, 0, Buffer.alloc(0))
const u32 = n => { const b = Buffer.alloc(4); b.writeUInt32BE(n >>> 0); return b }
// ":method POST", ":scheme http", ":path" and two more, as HPACK's literals without an index (RFC 7541, 6.2.2).
const literal = (name, value) => Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])
const requestHead = path => Buffer.concat([Buffer.from([0x83, 0x86]), literal(':path', path), literal('content-type', 'application/grpc'), literal('te', 'trailers')])
const garbage = () => {
  const sound = [Buffer.from(PREFACE), SETTINGS]
  const open = stream => frame(1, 4, stream, requestHead(`${P}Prove`))
  const kinds = [
    () => [bytes(1 + below(500))],
    () => [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    () => [Buffer.from('160301020001000001fc0303', 'hex'), bytes(200)], // a ClientHello
    () => [Buffer.from(PREFACE.slice(0, below(PREFACE.length)))],
    () => [...sound, bytes(1 + below(2000))],
    () => [...sound, ...Array.from({ length: 1 + below(30) }, () => frame(below(12), below(256), pick([0, 1, 3, 5, 2, 0x7fffffff, 0xffffffff]), bytes(below(60))))],
    () => [...sound, open(1), frame(0, 0, 1, bytes(below(300))), frame(below(12), below(256), 1, bytes(below(30)))],
    () => [...sound, open(1), frame(0, 1, 1, framed(damage(field(1, submit()))))],
    () => [...sound, frame(0, 1, 0, bytes(10))], // data of the connection
    () => [...sound, frame(9, 4, 1, bytes(10))], // a continuation of nothing
    () => [...sound, frame(1, 0, 1, requestHead(`${P}Prove`).subarray(0, 10)), SETTINGS], // headers that are not continued
    () => [...sound, frame(1, 4, 1, bytes(1 + below(100)))], // no HPACK
    () => [...sound, open(1), open(1)],
    () => [...sound, open(2)],
    () => [...sound, open(5), open(3)],
    () => [...sound, frame(8, 0, 0, u32(0x7fffffff)), frame(8, 0, 0, u32(0x7fffffff))], // a window that overflows
    () => [...sound, frame(8, 0, 0, u32(0))],
    () => [...sound, frame(6, 0, 0, bytes(pick([0, 7, 8, 9])))],
    () => [...sound, ...Array.from({ length: 300 }, () => frame(6, 0, 0, Buffer.alloc(8)))], // pings
    () => [...sound, ...Array.from({ length: 300 }, () => SETTINGS)],
    () => [...sound, frame(4, 0, 0, Buffer.concat([Buffer.from([0, pick([1, 2, 3, 4, 5, 6, 99])]), u32(pick([0, 1, 0xffffffff]))]))],
    () => [...sound, frame(3, 0, pick([0, 1, 99]), u32(8))],
    () => [...sound, frame(7, 0, 0, bytes(8 + below(20)))],
    () => [...sound, frame(0, 0, 1, Buffer.alloc(100), pick([0xffffff, 16385, 200]))], // longer than allowed, or than it is
    () => [...sound, frame(1, 0xc, 1, Buffer.concat([Buffer.from([200]), requestHead(`${P}Prove`)]))], // more padding than there is
    () => [...sound, ...Array.from({ length: 200 }, (_, i) => [open(2 * i + 1), frame(3, 0, 2 * i + 1, u32(8))]).flat()], // opened and reset at once
  ]
  return Buffer.concat(pick(kinds)())
}

test('damaged HTTP/2: frames of every kind, in pieces, from clients that hang up at any byte', async () => {
  for (let i = 0; i < rounds; i += 10)
    await Promise.all(Array.from({ length: 10 }, () => new Promise(resolve => {
      const s = net.connect(port, host), data = garbage(), cut = random() < 0.3 ? below(data.length + 1) : data.length, pieces = 1 + below(4)
      s.on('error', () => {})
      s.on('close', resolve)
      s.resume()
      s.on('connect', async () => {
        for (let k = 0; k < pieces; k++) {
          s.write(data.subarray(Math.floor(cut * k / pieces), Math.floor(cut * (k + 1) / pieces)))
          if (pieces > 1) await sleep(below(5))
        }
        setTimeout(() => (random() < 0.5 ? s.destroy() : s.resetAndDestroy()), 5 + below(60))
      })
    })))
  await honest('damaged HTTP/2')
})

// -- clients that hold on

test('half-open connections and streams, and requests that never end, starve nobody', async () => {
  const held = []
  for (let i = 0; i < 60; i++) {
    const s = net.connect(port, host)
    s.on('error', () => {})
    if (i % 3 === 1) s.write(PREFACE.slice(0, 10))
    if (i % 3 === 2) s.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame(1, 4, 1, requestHead(`${P}Prove`)), frame(0, 0, 1, framed(submit()).subarray(0, 40))]))
    held.push(s)
  }
  const session = http2.connect(`http://${host}:${port}`)
  session.on('error', () => {})
  for (let i = 0; i < 60; i++) {
    const request = session.request({ ':method': 'POST', ':path': pick(samples)[0], 'content-type': 'application/grpc', te: 'trailers' }, { endStream: false })
    request.on('error', () => {})
    request.write(framed(Buffer.alloc(1000), { length: 500000 })) // the rest never comes
  }
  for (let i = 0; i < 5; i++) await honest('connections that are held')
  held.forEach((s, i) => (i % 2 ? s.destroy() : s.end()))
  session.destroy()
  await honest('connections that were held')
})

test('requests over the limits: too large, too many at once; room comes back', async () => {
  const client = connect(d.addresses[0])
  await refused('RESOURCE_EXHAUSTED', /larger|RESOURCE|message/i, call(client, 'SubmitProof', { circuit: 'quick', witness: Buffer.alloc((1 << 20) + 1000) }))
  client.close()
  const session = http2.connect(`http://${host}:${port}`)
  session.on('error', () => {})
  const requests = Array.from({ length: 40 }, () => {
    const request = session.request({ ':method': 'POST', ':path': `${P}SubmitProof`, 'content-type': 'application/grpc', te: 'trailers' }, { endStream: false })
    request.on('error', () => {})
    request.resume()
    request.write(framed(Buffer.alloc(900000), { length: 1000000 }))
    return request
  })
  await sleep(300)
  requests.forEach(r => r.close(8))
  session.destroy()
  await honest('requests over the limits')
})

test('the daemon is as it was, and ends without a leak', async () => {
  const { prometheus_text } = await call(d.client, 'GetMetrics', {})
  const value = name => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(prometheus_text)[1])
  console.log(`        answers to nonsense: ${JSON.stringify(answered)}; ${checker.checked} right proofs for honest clients`)
  assert.equal(value('cuzk_proofs_completed_total') >= checker.checked, true)
  await until('descriptors are given back', () => d.descriptors() < 40, 20000)
  checker.end()
  await d.stop()
})

await run()
