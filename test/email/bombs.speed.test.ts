import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { limitMs, watchLoop } from '../generated/block.js';
import { deliverBombs, listLongHeaders, MIB, processBombs } from './bombs.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe(`messages that are made to take long${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  after(() => stage?.stop());

  it('end in bounded time and memory, and the others go on', IF_INSTALLED, async () => {
    const id = await deliverBombs(stage);
    const before = process.memoryUsage().rss;
    const begun = performance.now();
    await processBombs(stage, id);
    expect(performance.now() - begun).to.be.below(30_000);
    expect((process.memoryUsage().rss - before) / MIB).to.be.below(200);
  });

  it('have headers that are read up to a bound', IF_INSTALLED, () =>
    listLongHeaders(stage, async (list) => {
      const watched = watchLoop();
      const reply = await list();
      expect(watched.stop().turnMs).to.be.below(limitMs(500));
      return reply;
    }),
  );
});
