// What the daemon's tests share: a cuzkd in a folder of its own, the service of CUZK-V1 for @grpc/grpc-js, and cases.
//
// The .proto is written here once more, from the contract that existing clients speak, and not read from proto/: a number that
// changes there must fail here.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import loader from '@grpc/proto-loader'

export { assert, grpc }

const PROTO = `
syntax = "proto3";
package cuzk.v1;
service ProvingEngine {
  rpc SubmitProof(SubmitProofRequest) returns (SubmitProofResponse);
  rpc AwaitProof(AwaitProofRequest) returns (AwaitProofResponse);
  rpc Prove(ProveRequest) returns (ProveResponse);
  rpc CancelProof(CancelProofRequest) returns (CancelProofResponse);
  rpc GetStatus(GetStatusRequest) returns (GetStatusResponse);
  rpc GetMetrics(GetMetricsRequest) returns (GetMetricsResponse);
  rpc PreloadSRS(PreloadSrsRequest) returns (PreloadSrsResponse);
  rpc EvictSRS(EvictSrsRequest) returns (EvictSrsResponse);
}
message SubmitProofRequest {
  string request_id = 1; uint32 proof_kind = 2; uint64 sector_size = 3; uint64 registered_proof = 4; uint32 priority = 5;
  bytes vanilla_proof = 10; repeated bytes vanilla_proofs = 11;
  uint64 sector_number = 20; uint64 miner_id = 21; bytes randomness = 22; uint32 partition_index = 23;
  bytes comm_r_old = 30; bytes comm_r_new = 31; bytes comm_d_new = 32;
  string circuit = 50; bytes witness = 51; uint64 deadline_ms = 52; uint32 durable = 53; string witness_file = 54;
  string from_the_future = 4711;
}
message SubmitProofResponse { string job_id = 1; uint32 queue_position = 2; string assigned_gpu = 3; bool joined = 50; }
message AwaitProofRequest { string job_id = 1; uint64 timeout_ms = 2; }
message AwaitProofResponse {
  enum Status { UNKNOWN = 0; COMPLETED = 1; FAILED = 2; CANCELLED = 3; TIMEOUT = 4; }
  string job_id = 1; Status status = 2; bytes proof = 3; string error_message = 4;
  uint64 queue_wait_ms = 10; uint64 srs_load_ms = 11; uint64 synthesis_ms = 12; uint64 gpu_compute_ms = 13; uint64 total_ms = 14;
  string result_json = 50; string error_code = 51; uint32 attempts = 52;
}
message ProveRequest { SubmitProofRequest submit = 1; }
message ProveResponse { AwaitProofResponse result = 1; }
message CancelProofRequest { string job_id = 1; }
message CancelProofResponse { bool was_running = 1; AwaitProofResponse.Status ended = 50; }
message GetStatusRequest {}
message GetStatusResponse {
  repeated GPUStatus gpus = 1; repeated SRSStatus loaded_srs = 2; repeated QueueStatus queues = 3;
  uint64 total_proofs_completed = 4; uint64 total_proofs_failed = 5; uint64 uptime_seconds = 6;
  uint64 pinned_memory_bytes = 7; uint64 pinned_memory_limit_bytes = 8;
  uint64 memory_bytes = 50; uint64 memory_limit_bytes = 51; repeated JobStatus jobs = 52; bool draining = 53;
}
message JobStatus {
  string job_id = 1; string circuit_id = 2; string proof_kind = 3; uint32 priority = 4; uint64 age_ms = 5; bool started = 6;
  uint32 total_partitions = 7; uint32 partitions_done = 8;
}
message GPUStatus {
  uint32 ordinal = 1; string name = 2; uint64 vram_total_bytes = 3; uint64 vram_free_bytes = 4;
  string current_job_id = 5; string current_proof_kind = 6;
}
message SRSStatus {
  enum Tier { HOT = 0; WARM = 1; COLD = 2; }
  string circuit_id = 1; Tier tier = 2; uint64 size_bytes = 3; uint32 ref_count = 4;
}
message QueueStatus { string proof_kind = 1; uint32 pending = 2; uint32 in_progress = 3; }
message GetMetricsRequest {}
message GetMetricsResponse { string prometheus_text = 1; }
message PreloadSrsRequest { string circuit_id = 1; }
message PreloadSrsResponse { bool already_loaded = 1; uint64 load_time_ms = 2; }
message EvictSrsRequest { string circuit_id = 1; }
message EvictSrsResponse { bool was_loaded = 1; uint64 freed_bytes = 2; }
`
const HEALTH = `
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse { enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; } ServingStatus status = 1; }
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse); }
`

export const work = fs.mkdtempSync(path.join(os.tmpdir(), 'cuzkd-'))
const load = (name, text) => {
  const file = path.join(work, name)
  fs.writeFileSync(file, text)
  return grpc.loadPackageDefinition(loader.loadSync(file, { keepCase: true, longs: Number, enums: String, defaults: true }))
}
const Engine = load('cuzk.proto', PROTO).cuzk.v1.ProvingEngine
const Health = load('health.proto', HEALTH).grpc.health.v1.Health

const LIMIT = { 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': -1, 'grpc.enable_http_proxy': 0, 'grpc.use_local_subchannel_pool': 1 }
const target = address => address.replace(/^unix:\/\//, 'unix:')
export const connect = (address, options = {}) => new Engine(target(address), grpc.credentials.createInsecure(), { ...LIMIT, ...options })
export const connectHealth = address => new Health(target(address), grpc.credentials.createInsecure(), LIMIT)

// call(client, 'GetStatus', {}) -> the answer; options: deadline in ms, onCall gets the call itself
export const call = (client, method, request, { deadline, onCall } = {}) =>
  new Promise((resolve, reject) => {
    const options = deadline ? { deadline: Date.now() + deadline } : {}
    const c = client[method](request, new grpc.Metadata(), options, (error, answer) => (error ? reject(error) : resolve(answer)))
    if (onCall) onCall(c)
  })

// The call fails with this code, and its text matches.
export const refused = async (code, pattern, promise) => {
  const error = await promise.then(a => assert.fail(`no error but ${JSON.stringify(a).slice(0, 300)}`), e => e)
  if (error instanceof assert.AssertionError) throw error
  assert.equal(grpc.status[error.code], code, `${error.message}`)
  assert.match(error.details, pattern)
  return error
}

export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
export const until = async (what, condition, ms = 20000) => {
  const end = Date.now() + ms
  for (;;) {
    if (await condition()) return
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`)
    await sleep(20)
  }
}

export class Daemon {
  static all = new Set()

  constructor(program, args = [], { env = {} } = {}) {
    this.log = ''
    this.addresses = []
    this.process = spawn(program, ['--listen', '127.0.0.1:0', '--log-format', 'json', ...args], { env: { ...process.env, ...env } })
    this.process.stderr.on('data', d => (this.log += d))
    this.output = ''
    this.process.stdout.on('data', d => (this.output += d))
    Daemon.all.add(this)
    this.ended = new Promise(resolve => this.process.on('close', (code, signal) => (Daemon.all.delete(this), resolve((this.exit = { code, signal })))))
  }

  async ready() {
    await until('the daemon is ready', () => this.exit || this.log.includes(' is ready'))
    if (this.exit) throw new Error(`the daemon ended with ${JSON.stringify(this.exit)}:\n${this.log}`)
    for (const [, address] of this.log.matchAll(/listening on ([^"]+)"/g)) this.addresses.push(address)
    this.client = connect(this.addresses[0])
    return this
  }

  rss() { return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${this.process.pid}/status`, 'utf8'))[1]) * 1024 }
  anonymous() { return Number(/RssAnon:\s+(\d+)/.exec(fs.readFileSync(`/proc/${this.process.pid}/status`, 'utf8'))[1]) * 1024 }
  descriptors() { return fs.readdirSync(`/proc/${this.process.pid}/fd`).length }
  tasks() { return fs.readdirSync(`/proc/${this.process.pid}/task`).map(t => `/proc/${this.process.pid}/task/${t}`) }
  threads() { return fs.readdirSync(`/proc/${this.process.pid}/task`).length }
  signal(name) { this.process.kill(name) }

  // Ends the daemon; it must end well, whatever it has been through.
  async stop() {
    this.client?.close()
    if (!this.exit) this.process.kill('SIGTERM')
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 30000)
    await this.ended
    clearTimeout(timer)
    assert.deepEqual(this.exit, { code: 0, signal: null }, this.log.slice(-3000))
    assert.doesNotMatch(this.log, /Sanitizer|runtime error/)
  }
}

// -- circuits, keys and the check of proofs

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
export const at = name => path.join(work, name)
export const env = { ...process.env, XDG_CACHE_HOME: at('cache') }
export const sanitized = process.env.CUZK_SANITIZED === '1'

// cuzk's commands: tool gives what came of it, good insists on success and gives its output.
export const commands = (cuzk, { environment = env, timeout = 120000 } = {}) => {
  const tool = (...args) => {
    const p = spawnSync(cuzk, args.map(String), { encoding: 'utf8', env: environment, timeout })
    assert.doesNotMatch(p.stderr, /Sanitizer|runtime error/)
    return { code: p.status, out: p.stdout, err: p.stderr }
  }
  const good = (...args) => {
    const p = tool(...args)
    assert.equal(p.code, 0, `cuzk ${args.join(' ')}: ${p.err}`)
    return p.out
  }
  return { tool, good }
}

// NAME.r1cs, .wtns, .zkey and .vkey in the working folder; more: arguments of make_circuit.py.
export const makeCircuit = (cuzk, name, curve, steps, ...more) => {
  const { good } = commands(cuzk)
  execFileSync('python3', [`${root}/tests/support/make_circuit.py`, curve, String(steps), at(name), ...more])
  good('setup', '--dev', at(`${name}.r1cs`), at(`${name}.zkey`))
  good('vkey', at(`${name}.zkey`), at(`${name}.vkey`))
  return { name, vkey: at(`${name}.vkey`), witness: fs.readFileSync(at(`${name}.wtns`)), flags: ['--circuit', `${name}=${at(`${name}.zkey`)}`] }
}

// A process that verifies proofs with the public library (checker.c), in the order in which they are given.
export class Checker {
  constructor(program) {
    this.waiting = []
    this.checked = 0
    this.rest = ''
    this.process = spawn(program, [], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.process.stdout.on('data', d => {
      const lines = (this.rest + d).split('\n')
      this.rest = lines.pop()
      for (const line of lines) {
        const { resolve, reject } = this.waiting.shift()
        if (line === 'ok') resolve(this.checked++)
        else reject(new Error(`a proof does not verify: ${line}`))
      }
    })
    this.process.on('close', () => this.waiting.forEach(w => w.reject(new Error('the checker has ended'))))
  }

  check(circuit, json) {
    const { proof, publicSignals } = JSON.parse(json)
    this.process.stdin.write(`${circuit.vkey}\t${JSON.stringify(proof)}\t${JSON.stringify(publicSignals)}\n`)
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }))
  }

  end() { this.process.stdin.end() }
}

// What is random in a test follows from CUZK_SEED or CUZK_TEST_SEED, or from the time; the number is printed.
export const seeded = () => {
  const seed = Number(BigInt(process.env.CUZK_SEED ?? process.env.CUZK_TEST_SEED ?? Date.now()) % 1000000007n)
  let state = seed
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const random = () => (next() + next() / 2 ** 20) % 1 // the low bits of the generator are poor
  const below = n => Math.floor(random() * n)
  console.log(`        CUZK_SEED=${seed}`)
  return { seed, random, below, pick: list => list[below(list.length)], bytes: n => Buffer.from(Array.from({ length: n }, () => below(256))) }
}

const cases = []
export const test = (name, body) => cases.push({ name, body })

export const run = async () => {
  const wanted = process.argv.slice(3).filter(a => !a.startsWith('/'))
  let passed = 0, failed = 0
  for (const { name, body } of cases) {
    if (wanted.length && !wanted.some(w => name.includes(w))) continue
    const start = Date.now()
    try {
      await body()
      passed++
      console.log(`ok      ${name} (${Date.now() - start} ms)`)
    } catch (e) {
      failed++
      console.log(`FAILED  ${name}\n${e.stack ?? e}`)
    }
  }
  for (const d of Daemon.all) if (!d.exit) d.process.kill('SIGKILL') // of tests that have failed
  fs.rmSync(work, { recursive: true, force: true })
  console.log(`${passed} passed, ${failed} failed, 0 skipped`)
  process.exit(failed || !passed ? 1 : 0)
}
