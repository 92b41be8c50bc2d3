import * as Lab from '@hapi/lab';
import { deliverBombs, listLongHeaders, processBombs } from './bombs.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe(`messages that are made to take long${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  after(() => stage?.stop());

  it('end, and the others go on', IF_INSTALLED, async () => {
    await processBombs(stage, await deliverBombs(stage));
  });

  it('have headers that are read up to a bound', IF_INSTALLED, () =>
    listLongHeaders(stage, (list) => list()),
  );
});
