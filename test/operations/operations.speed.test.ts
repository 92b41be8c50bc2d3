import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../harness/app.js';
import { begin, kindOf, type OperationsStage, OWNER, openOperationsStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('operations', () => {
  let stage: OperationsStage;
  beforeEach(async () => {
    stage = await openOperationsStage();
  });
  afterEach(() => stage.remove());

  it('is told at most four times a second, the end always', async () => {
    const operations = stage.open();
    await operations.start();
    const times: number[] = [];
    stage.hub.listen(OWNER, 'operation.progress', () => times.push(performance.now()));
    const { id } = await begin(
      operations,
      kindOf(async ({ progress, signal }) => {
        for (let done = 1; done <= 240; done++) {
          progress({ done, total: 240, unit: 'steps', note: null });
          await wait(10, undefined, { signal });
        }
        return { status: 'completed', result: {} };
      }),
    );
    await stage.ended(id);
    await untilMatches(async () => stage.published.at(-1)?.status, 'completed');
    const inASecond = times.map(
      (at) => times.filter((each) => each >= at && each < at + 990).length,
    );
    expect(Math.max(...inASecond)).to.be.at.most(4);
    expect(times.length).to.be.at.least(4);
    expect(stage.published.at(-1)?.progress?.done).to.equal(240);
  });
});
