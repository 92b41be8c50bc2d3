import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const IF_INSTALLED = { skip: missing !== null };

describe(`the state of a mail account${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  after(() => stage?.stop());

  const stateOf = async (id: string) => {
    const { status, error } = (await stage.call('GET', `/api/email/accounts/${id}`)).body;
    return [status, error];
  };

  it('is not that of somebody who does not wait', IF_INSTALLED, async () => {
    const { id } = (await stage.account('left')).body;
    for (let at = 0; at < 12; at++) {
      const body = { accountId: id };
      const begun = await stage.call('POST', '/api/email/process', body);
      await new Promise((resolve) => setTimeout(resolve, at * 4));
      await stage.call('POST', `/api/operations/${begun.body.id}/cancel`);
      await until(
        async () => (await stage.call('GET', `/api/operations/${begun.body.id}`)).body,
        ({ status }) => status !== 'queued' && status !== 'running',
      );
      expect(await stateOf(id)).to.equal(['ok', null]);
    }
  });
});
