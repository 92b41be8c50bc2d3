import * as Lab from '@hapi/lab';
import { deliverBombs, LIMIT, listLongHeaders, missing, processBombs, said } from './bombs.js';
import { type MailStage, openMailStage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe(`messages that are made to take long${said}`, () => {
  let stage: MailStage;
  before({ timeout: 60_000 }, async () => {
    if (!missing) stage = await openMailStage();
  });
  after(async () => {
    await stage?.stop();
  });

  it('end, and the others go on', LIMIT, async () => {
    await processBombs(stage, await deliverBombs(stage));
  });

  it('have headers that are read up to a bound', LIMIT, () =>
    listLongHeaders(stage, (list) => list()),
  );
});
