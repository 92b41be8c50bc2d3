import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { KIND_NAMES, mailOfKind, TNEF } from '../harness/mail/kinds.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

interface Listed {
  id: string;
  subject: string;
  attachments: { name: string; mediaType: string }[];
}

describe(`an e-mail of each kind${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  after(() => stage?.stop());

  it(
    'is processed once and read as it is, without a change at the server',
    IF_INSTALLED,
    async () => {
      const { id: accountId } = (await stage.account('kinds')).body;
      // The first message of the second round is small.
      const count = KIND_NAMES.length;
      for (let n = count; n < 2 * count; n++) await stage.dovecot.deliver('kinds', mailOfKind(n));
      const files = () => readdir(join(stage.dovecot.maildir('kinds'), 'new'));
      const before = (await files()).sort();
      const { error, result } = await stage.processed({ accountId });
      expect([error, result.processed]).to.equal([null, count]);
      const { body } = await stage.call('GET', `/api/email/messages?accountId=${accountId}`);
      const byKind = new Map<string | undefined, Listed>(
        body.messages.map((each: Listed) => [each.subject.split(' ')[1], each]),
      );
      expect([...byKind.keys()].sort()).to.equal([...KIND_NAMES].sort());
      const content = (kind: string, number: number) =>
        stage.call('GET', `/api/email/messages/${byKind.get(kind)?.id}/attachments/${number}`);
      for (const [kind = '', { id, attachments }] of byKind) {
        const { status, body: mail } = await stage.call('GET', `/api/email/messages/${id}`);
        expect([status, mail.problem], kind).to.equal([200, null]);
        expect(mail.html ?? '').to.not.contain('tracker.invalid');
        for (const number of attachments.keys()) {
          expect((await content(kind, number)).status, kind).to.equal(200);
        }
      }
      const names = (kind: string) => byKind.get(kind)?.attachments.map(({ name }) => name);
      expect([names('tnef'), names('smime')]).to.equal([['winmail.dat'], ['smime.p7m']]);
      expect((await content('smime', 0)).text).to.equal(TNEF.toString());
      expect(await stage.processed({ accountId })).to.include({
        result: { processed: 0, runs: 0, known: 0 },
      });
      expect((await files()).sort()).to.equal(before);
      expect(await readdir(join(stage.dovecot.maildir('kinds'), 'cur'))).to.equal([]);
    },
  );
});
