import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { randomFrom } from './random.js';
import { slaughter } from './slaughter.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('kills', () => {
  it('loses nothing acknowledged and repeats nothing that ended, over 20 SIGKILLs under load', async () => {
    const seed = Date.now() % 1_000_000;
    const toll = await slaughter({
      ...{ kills: 20, longestLifeMs: 700, leastAcknowledged: 250 },
      random: randomFrom(seed),
    });
    const { lost, stuck, changed, repeated, jobs, notices, unfinishedAgents, doubledAgents } = toll;
    expect(
      { lost, stuck, changed, repeated, jobs, notices, unfinishedAgents, doubledAgents },
      `seed ${seed}`,
    ).to.equal({
      lost: [],
      stuck: [],
      changed: [],
      repeated: [],
      jobs: 0,
      notices: 0,
      unfinishedAgents: 0,
      doubledAgents: 0,
    });
    expect(toll.integrity).to.equal('ok');
    expect(toll.acknowledged).to.be.above(200);
  });
});
