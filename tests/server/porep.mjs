// PoRep of 2 KiB for the daemon's tests: inputs, requests, a development key of 1.1 GB, and the check of proofs.
import fs from 'node:fs'
import path from 'node:path'
import { at, commands } from './client.mjs'

export const PARAMETERS_2K = 'v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f'
const whose = ['--miner', 1000, '--sector', 1]

export const porepTools = (cuzk, environment) => {
  const { good } = commands(cuzk, { environment, timeout: 3600000 })
  return {
    // A C1 output of a sector of zeros, by its seed.
    c1: (seed, ...more) => {
      const file = at(`c1-${seed}${more.join('')}.json`)
      good('gen', 'c1', '--size', '2KiB', '--seed', seed, ...whose, ...more, '-o', file)
      return file
    },
    job: (vanilla_proof, more = {}) => ({ proof_kind: 1, sector_size: 2048, registered_proof: 5, vanilla_proof, sector_number: 1, miner_id: 1000, ...more }),
    // The folder that CUZK_TEST_PARAMS names, whose key is made if there is none; else one that is made anew, which takes minutes.
    made: () => {
      const folder = process.env.CUZK_TEST_PARAMS ?? at('params')
      if (!fs.existsSync(path.join(folder, `${PARAMETERS_2K}.vk`))) good('setup', '--dev', 'porep-2k', folder)
      return folder
    },
    verify: (c1, proof, params) => {
      fs.writeFileSync(at('porep.proof'), proof)
      good('porep', 'verify', at('porep.proof'), '--c1', c1, ...whose, '--params', params)
    },
  }
}
