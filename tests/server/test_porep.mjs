// cuzkd and Filecoin's proof of replication, with sectors of 2 KiB.
//
//   node test_porep.mjs CUZKD CUZK [CASE...]     both in one folder, cuzk-client beside them
//
// The fast cases have a key whose points are zeros (a file with a hole, 5 KB on disk): everything up to the first sum of a proof
// works with it.  With CUZK_LOAD=slow the key is a development key of 1.1 GB, and proofs are made; CUZK_TEST_PARAMS names a folder that
// has one, or keeps the one that is made.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Daemon, assert, at, call, commands, refused, run, sleep, test, until, work } from './client.mjs'
import { PARAMETERS_2K, porepTools } from './porep.mjs'

const [cuzkd, cuzk] = process.argv.slice(2)
const here = path.dirname(fileURLToPath(import.meta.url))
const slow = process.env.CUZK_LOAD === 'slow'
const env = { ...process.env, XDG_CACHE_HOME: path.join(work, 'cache') }
delete env.FIL_PROOFS_PARAMETER_CACHE

const { tool, good } = commands(cuzk, { environment: env, timeout: 3600000 })
const { c1, job, made, verify: check } = porepTools(cuzk, env)
const bytes = file => fs.readFileSync(file)
const altered = (file, change) => {
  const o = JSON.parse(bytes(file))
  change(o, o.vanilla_proofs.StackedDrg2KiBV1)
  return Buffer.from(JSON.stringify(o))
}

// -- keys

const holes = () => {
  const folder = at('holes')
  fs.mkdirSync(folder)
  const vk = Buffer.from(fs.readFileSync(path.join(here, 'porep_2k_vk.base64'), 'utf8'), 'base64')
  fs.writeFileSync(path.join(folder, `${PARAMETERS_2K}.vk`), vk)
  fs.writeFileSync(path.join(folder, 'INSECURE-DEVELOPMENT-KEYS.txt'), '')
  const f = fs.openSync(path.join(folder, `${PARAMETERS_2K}.params`), 'w')
  fs.writeSync(f, vk, 0, vk.length, 0)
  let offset = vk.length
  for (const [count, size] of [[4194303, 96], [2685673, 96], [2674948, 96], [685522, 96], [685522, 192]]) { // h, l, a, b in G1, b in G2
    const n = Buffer.alloc(4)
    n.writeUInt32BE(count)
    fs.writeSync(f, n, 0, 4, offset)
    offset += 4 + count * size
  }
  fs.ftruncateSync(f, offset)
  fs.closeSync(f)
  return folder
}
const params = slow ? made() : holes()
for (const [name, steps] of [['small', 61], ...(slow ? [['medium', 60000]] : [])]) {
  execFileSync('python3', [`${here}/../support/make_circuit.py`, 'bn254', String(steps), at(name)])
  good('setup', '--dev', at(`${name}.r1cs`), at(`${name}.zkey`))
  good('vkey', at(`${name}.zkey`), at(`${name}.vkey`))
}
const small = bytes(at('small.wtns'))
const start = (...args) => new Daemon(cuzkd, ['--params', params, '--circuit', `small=${at('small.zkey')}`, ...args], { env }).ready()
const verify = (file, proof) => check(file, proof, params)
const verify_circom = (name, json) => {
  const { proof, publicSignals } = JSON.parse(json)
  fs.writeFileSync(at('p.json'), JSON.stringify(proof))
  fs.writeFileSync(at('q.json'), JSON.stringify(publicSignals))
  good('verify', at(`${name}.vkey`), at('q.json'), at('p.json'))
}
const fast_test = (name, body) => slow || test(name, body)
const slow_test = (name, body) => slow && test(name, body)
const status = d => call(d.client, 'GetStatus', {})

// -- without proofs

fast_test('the circuits of the parameter folder are there by name: preload, status, evict', async () => {
  const d = await start('--preload', 'porep-2k')
  const key = async () => (await status(d)).loaded_srs.find(k => k.circuit_id === 'porep-2k')
  await until('the key is loaded', async () => (await key()).tier === 'HOT', 120000)
  assert.ok((await key()).size_bytes > 1114707768, 'the file and the heap')
  assert.equal((await call(d.client, 'PreloadSRS', { circuit_id: 'porep-2k' })).already_loaded, true)
  assert.ok((await call(d.client, 'EvictSRS', { circuit_id: 'porep-2k' })).freed_bytes > 1114707768)
  assert.equal((await key()).tier, 'COLD')
  // many who ask, one load
  const all = await Promise.all([1, 2, 3].map(() => call(d.client, 'PreloadSRS', { circuit_id: 'porep-2k' })))
  assert.ok(all.every(a => a.load_time_ms > 0))
  assert.match((await call(d.client, 'GetMetrics', {})).prometheus_text, /^cuzk_key_loads_total 2$/m)
  await refused('NOT_FOUND', /./, call(d.client, 'PreloadSRS', { circuit_id: 'porep-32g' }))
  await d.stop()
})

fast_test('what is not a PoRep request of this sector is refused at submit, and the field is named', async () => {
  const d = await start()
  const v = bytes(c1(1)), bad = (pattern, request, code = 'INVALID_ARGUMENT') => refused(code, pattern, call(d.client, 'SubmitProof', request))
  await bad(/vanilla_proof is missing/, job(undefined))
  await bad(/neither JSON nor bincode|C1/, job(Buffer.from('this is no output of Commit Phase 1')))
  await bad(/C1 JSON.*byte \d+/s, job(v.subarray(0, 5000)))
  await bad(/"seed" is missing/, job(altered(c1(1), o => delete o.seed)))
  await bad(/partition 0, challenge 1, .*modulus/, job(altered(c1(1), (o, p) => (p[0][1].comm_d_proofs.data.Single.path.path[2].hashes[0] = Array(32).fill(255)))))
  await bad(/porep-8m/, job(v, { sector_size: 8 << 20 }), 'NOT_FOUND')
  await bad(/sector_size 2049/, job(v, { sector_size: 2049 }))
  await bad(/registered_proof is 0?.*StackedDrg2KiBV1_1/, job(v, { registered_proof: 10 }))
  await bad(/no registered_proof 77/, job(v, { registered_proof: 77 }))
  await bad(/replica_id.*miner 1001/, job(v, { miner_id: 1001 }))
  await bad(/replica_id.*sector 2/, job(v, { sector_number: 2 }))
  await bad(/wrapper is of sector 1, not 2/, job(bytes(c1(1, '--wrapped')), { sector_number: 2 }))
  await bad(/partition_index belongs to PoSt/, job(v, { partition_index: 1 }))
  await bad(/randomness belongs to PoSt/, job(v, { randomness: Buffer.alloc(32, 7) }))
  for (const field of ['comm_r_old', 'comm_r_new', 'comm_d_new']) await bad(new RegExp(`${field} belongs to SnapDeals`), job(v, { [field]: Buffer.alloc(32, 7) }))
  await bad(/vanilla_proof, not vanilla_proofs/, job(v, { vanilla_proofs: [Buffer.from('x')] }))
  await bad(/circuit, witness and witness_file/, job(v, { circuit: 'small' }))
  for (const [kind, name] of [[2, 'SNAP_DEALS_UPDATE'], [3, 'WINDOW_POST_PARTITION'], [4, 'WINNING_POST']])
    await bad(new RegExp(name), { proof_kind: kind, sector_size: 2048, vanilla_proofs: [v] }, 'UNIMPLEMENTED')
  assert.deepEqual((await status(d)).jobs, [])
  await d.stop()
})

fast_test('an altered value fails the job, and partition, challenge and field are named', async () => {
  const d = await start()
  const fails = async (pattern, vanilla, more) => {
    const { result } = await call(d.client, 'Prove', { submit: job(vanilla, more) })
    assert.equal(result.status, 'FAILED')
    assert.equal(result.proof.length, 0)
    assert.equal(result.error_code, 'MISMATCH')
    assert.match(result.error_message, pattern)
  }
  const flip = h => (h[0] ^= 1)
  await fails(/partition 0, challenge 0, column c_x, column row 1/, altered(c1(1), (o, p) => flip(p[0][0].replica_column_proofs.c_x.column.rows[1])))
  await fails(/partition 0, challenge 1, drg parent 3/, altered(c1(1), (o, p) => flip(p[0][1].replica_column_proofs.drg_parents[3].inclusion_proof.data.Single.path.path[0].hashes[2])))
  await fails(/partition 0, challenge 1, labeling proof 0, parent 36/, altered(c1(1), (o, p) => flip(p[0][1].labeling_proofs[0].parents[36])))
  await fails(/challenge 0, .*replica id and seed demand node/, altered(c1(1), o => flip(o.seed)))
  await fails(/comm_r/, altered(c1(1), o => flip(o.comm_r)))
  // of thirteen partitions only the altered one is at fault
  const wrong = altered(c1(1, '--variant', 'ni'), (o, p) => flip(p[9][1].comm_r_last_proof.data.Single.path.path[1].hashes[6]))
  const ni = await call(d.client, 'SubmitProof', job(wrong, { registered_proof: 15 }))
  const jobs = (await status(d)).jobs.filter(j => j.job_id === ni.job_id)
  assert.deepEqual(jobs.map(j => [j.circuit_id, j.proof_kind, j.total_partitions]), [['porep-2k', 'porep', 13]])
  await call(d.client, 'CancelProof', { job_id: ni.job_id })
  assert.equal((await call(d.client, 'AwaitProof', { job_id: ni.job_id })).status, 'CANCELLED')
  await d.stop()
})

fast_test('the same id joins for the same content, and not for other content', async () => {
  const d = await start()
  const send = (file, more) => call(d.client, 'SubmitProof', job(bytes(file), { request_id: 'porep-1000-1', ...more }))
  const [first, other] = [await send(c1(1, '--variant', 'ni'), { registered_proof: 15 }), await send(c1(2))]
  const again = await send(c1(1, '--variant', 'ni'), { registered_proof: 15 })
  assert.deepEqual([first.joined, other.joined], [false, false])
  assert.notEqual(first.job_id, other.job_id)
  if (again.joined) assert.equal(again.job_id, first.job_id) // unless the first has ended meanwhile
  for (const job_id of new Set([first.job_id, other.job_id, again.job_id])) await call(d.client, 'CancelProof', { job_id })
  await d.stop()
})

fast_test('a key that cannot be one lets no proof out', async () => {
  const d = await start()
  const { result } = await call(d.client, 'Prove', { submit: job(bytes(c1(1))) })
  assert.deepEqual([result.status, result.error_code, result.proof.length], ['FAILED', 'KEY_INVALID', 0], result.error_message)
  assert.match(result.error_message, /point/)
  await d.stop()
})

fast_test('a job larger than the budget is refused at submit, with both numbers', async () => {
  const d = await start('--memory', '1500MiB')
  assert.match(d.log, /no job can run on circuit porep-2k/)
  await refused('RESOURCE_EXHAUSTED', /\d{10} bytes.*\d{9,10}/, call(d.client, 'SubmitProof', job(bytes(c1(1)))))
  const { result } = await call(d.client, 'Prove', { submit: { circuit: 'small', witness: small } })
  assert.equal(result.status, 'COMPLETED')
  verify_circom('small', result.result_json)
  await d.stop()
})

fast_test('cuzk submit takes size, type and, from a wrapper, the sector from the file', async () => {
  const d = await start('--memory', '1500MiB')
  const fails = (code, pattern, ...args) => {
    const p = tool('submit', d.addresses[0], ...args)
    assert.equal(p.code, code, p.err)
    assert.match(p.err, pattern)
  }
  fails(5, /1500|budget/, 'porep', c1(1), '--miner', 1000, '--sector', 1)
  fails(5, /1500|budget/, 'porep-2k', c1(1, '--wrapped'), '--miner', 1000)
  fails(2, /--miner N is missing/, 'porep', c1(1, '--wrapped'))
  fails(2, /--sector N is missing/, 'porep', c1(1), '--miner', 1000)
  fails(4, /porep-8m/, 'porep-8m', c1(1), '--miner', 1000, '--sector', 1)
  fails(2, /no circuit porep-3k/, 'porep-3k', c1(1), '--miner', 1000, '--sector', 1)
  fails(2, /PUBLIC/, 'porep', c1(1), at('p'), at('q'), '--miner', 1000, '--sector', 1)
  fails(2, /belong to PoRep/, 'small', at('small.wtns'), '--miner', 1000)
  fails(3, /./, 'porep', at('small.wtns'), '--miner', 1000, '--sector', 1)
  await d.stop()
})

fast_test('a parameter cache that is named must be there, and so must what is preloaded', async () => {
  for (const [code, pattern, ...args] of [[4, /nowhere/, '--params', at('nowhere')], [4, /porep-32g.*holes/, '--params', params, '--preload', 'porep-32g'],
    [2, /porep-33g/, '--params', params, '--preload', 'porep-33g']]) {
    const d = new Daemon(cuzkd, args, { env })
    await d.ended
    assert.equal(d.exit.code, code, d.log)
    assert.match(d.log, pattern)
  }
  const debris = at('debris')
  fs.mkdirSync(debris)
  for (const end of ['vk', 'params']) fs.writeFileSync(path.join(debris, `${PARAMETERS_2K}.${end}`), '<html>404</html>')
  const d = await new Daemon(cuzkd, ['--params', debris], { env }).ready()
  assert.match(d.log, /circuit porep-2k is not served: .*HTML page/)
  await refused('NOT_FOUND', /porep-2k/, call(d.client, 'SubmitProof', job(bytes(c1(1)))))
  await d.stop()
  const from_env = await new Daemon(cuzkd, [], { env: { ...env, FIL_PROOFS_PARAMETER_CACHE: params } }).ready()
  assert.deepEqual((await status(from_env)).loaded_srs.map(k => k.circuit_id), ['porep-2k'])
  await from_env.stop()
})

// -- with proofs

slow_test('the same id: one proof for one content, two right proofs for two contents at the same time', async () => {
  const d = await start('--preload', 'porep-2k', '--data', at('state'))
  const prove = (file, vanilla) => call(d.client, 'Prove', { submit: job(vanilla, { request_id: 'porep-1000-1' }) })
  const one = c1(1), wrapped = bytes(c1(1, '--wrapped')), two = c1(2)
  const [a, again, b] = await Promise.all([prove(one, wrapped), prove(one, wrapped), prove(two, bytes(two))])
  for (const { result } of [a, again, b]) assert.deepEqual([result.status, result.proof.length], ['COMPLETED', 192], result.error_message)
  assert.equal(a.result.job_id, again.result.job_id)
  assert.ok(a.result.proof.equals(again.result.proof))
  assert.notEqual(a.result.job_id, b.result.job_id)
  verify(one, a.result.proof)
  verify(two, b.result.proof)
  assert.equal((await status(d)).total_proofs_completed, 2)
  await d.stop()
})

slow_test('killed in the middle of thirteen partitions, it goes on where it was; urgent work starts at a partition border', async () => {
  const args = ['--preload', 'porep-2k', '--data', at('restart')], file = c1(3, '--variant', 'ni')
  const first = await start(...args)
  const { job_id } = await call(first.client, 'SubmitProof', job(bytes(file), { registered_proof: 15, priority: 1 }))
  const view = async d => (await status(d)).jobs.find(j => j.job_id === job_id)
  await until('two partitions are done', async () => (await view(first)).partitions_done >= 2, 1800000)
  first.signal('SIGKILL')
  await first.ended
  first.client.close()
  const second = await start(...args)
  const resumed = (await view(second)).partitions_done
  assert.ok(resumed >= 2, `${resumed} partitions were kept`)
  await until('it goes on', async () => (await view(second)).started, 600000)
  const before = (await view(second)).partitions_done
  const urgent = await call(second.client, 'Prove', { submit: { circuit: 'small', witness: small, priority: 4 } })
  assert.equal(urgent.result.status, 'COMPLETED')
  verify_circom('small', urgent.result.result_json)
  const after = await view(second)
  assert.ok(after.partitions_done <= before + 1, `${before} partitions were done when it came, ${after.partitions_done} when it had ended`)
  const end = await call(second.client, 'AwaitProof', { job_id })
  assert.deepEqual([end.status, end.proof.length], ['COMPLETED', 13 * 192], end.error_message)
  verify(file, end.proof)
  const timing = second.log.split('\n').filter(l => l.includes(`job=${job_id}`) && l.includes('stage=prove'))
  assert.equal(timing.length, 13 - resumed, 'what was done was not done again')
  await second.stop()
})

// A control group of so many bytes: `script` runs a command in it, `enter` cuzkd; null where none can be made.
const in_group = limit => {
  const v1 = fs.existsSync('/sys/fs/cgroup/memory'), group = `${v1 ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup'}/cuzk-test-${process.pid}`
  try {
    fs.mkdirSync(group)
    fs.writeFileSync(`${group}/${v1 ? 'memory.limit_in_bytes' : 'memory.max'}`, String(limit))
  } catch (e) {
    console.log(`        no control group can be made here: ${e.message}`)
    return null
  }
  const script = at('in_group.sh')
  fs.writeFileSync(script, `#!/bin/sh\necho $$ > ${group}/cgroup.procs || exit 99\nexec "$@"\n`, { mode: 0o755 })
  const enter = at('cuzkd_in_group.sh')
  fs.writeFileSync(enter, `#!/bin/sh\nexec ${script} ${cuzkd} "$@"\n`, { mode: 0o755 })
  return {
    script,
    enter,
    peak: () => Number(fs.readFileSync(`${group}/${v1 ? 'memory.max_usage_in_bytes' : 'memory.peak'}`, 'utf8')),
    fails: () => Number(v1 ? fs.readFileSync(`${group}/memory.failcnt`, 'utf8') : 0),
    end: () => fs.rmdirSync(group),
  }
}

slow_test('in a control group of 3 GiB twenty jobs of two circuits are all proved, and nothing is killed', async () => {
  const group = in_group(3 * 2 ** 30)
  if (!group) return
  const count = Number(process.env.CUZK_GROUP_POREP ?? 10), files = [], began = Date.now()
  // a file's pages count where they were first read: so the group makes itself a copy of the parameters
  const copy = at('copy')
  execFileSync(group.script, ['cp', '-r', params, copy])
  const d = await new Daemon(group.enter, ['--params', copy, '--circuit', `medium=${at('medium.zkey')}`, '--lanes', '2', '--data', at('group')], { env }).ready()
  assert.ok((await status(d)).memory_limit_bytes < 3 * 2 ** 30)
  const jobs = []
  for (let i = 0; i < 20; i++) {
    files.push(i < count ? c1(100 + i) : null)
    jobs.push(await call(d.client, 'SubmitProof', files[i] ? job(bytes(files[i])) : { circuit: 'medium', witness: bytes(at('medium.wtns')) }))
  }
  let most = 0, rss = 0
  const watch = setInterval(() => {
    try { rss = Math.max(rss, d.rss()) } catch { /* it has ended */ }
    status(d).then(s => (most = Math.max(most, s.memory_bytes)), () => 0)
  }, 500)
  for (let i = 0; i < 20; i++) {
    const a = await call(d.client, 'AwaitProof', { job_id: jobs[i].job_id })
    assert.equal(a.status, 'COMPLETED', a.error_message)
    if (files[i])
      verify(files[i], a.proof)
    else
      verify_circom('medium', a.result_json)
  }
  clearInterval(watch)
  const s = await status(d)
  console.log(`        ${count} of PoRep, ${20 - count} of circom in ${((Date.now() - began) / 1000).toFixed(0)} s; budget ${s.memory_limit_bytes}, ledger at most ${most}, ` +
    `resident at most ${rss}, group at most ${group.peak()}, its limit hit ${group.fails()} times (file pages given back)`)
  assert.ok(most <= s.memory_limit_bytes && group.peak() <= 3 * 2 ** 30)
  assert.equal(s.total_proofs_failed, 0)
  await d.stop()
  fs.rmSync(copy, { recursive: true })
  await sleep(100)
  group.end()
})

await run()
