import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { saveSession } from '../../../src/client/session.js';
import {
  IF_INSTALLED,
  type MailStage,
  missing,
  openMailStage,
  skipNote,
} from '../../email/stage.js';
import { until } from '../../harness/app.js';
import { openConfig } from '../config.js';
import { adjutant } from '../harness.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ASKED = [
  'From: Bob <bob@example.test>',
  'To: Ada <ada@example.test>, eve@example.test',
  'Cc: Carol <carol@example.test>, BOB@example.test',
  'Subject: Figures',
  'Message-ID: <figures@example.test>',
  'References: <first@example.test>',
  '',
  'Where are they?',
].join('\r\n');

describe(`adjutant email reply${skipNote}`, () => {
  let stage: MailStage;
  let config: Awaited<ReturnType<typeof openConfig>>;

  before(async () => {
    if (missing) return;
    stage = await openMailStage();
    config = await openConfig();
    const expiresAt = '2126-01-01T00:00:00.000Z';
    saveSession(stage.app.url, { token: stage.token, username: 'ada', expiresAt });
    await stage.dovecot.deliver('ada', ASKED);
    const { body } = await stage.account('ada');
    await stage.call('GET', `/api/email/messages?accountId=${body.id}`);
  });
  after(async () => {
    await config?.close();
    await stage?.stop();
  });

  const run = (...words: string[]) => adjutant([...words, '--server', stage.app.url]);
  const headerOf = (text: string, name: string): string =>
    new RegExp(`^${name}: (.*(?:\r\n[ \t].*)*)`, 'm').exec(text)?.[1]?.replace(/\s+/g, ' ') ?? '';

  it('answers the sender in the thread, from the account that got it', IF_INSTALLED, async () => {
    const { code, stdout, stderr } = await run('email', 'reply', 'Figures', '--text', 'Here.');
    expect([code, stderr]).to.equal([0, '']);
    expect(stdout.split('\t').slice(1, 4)).to.equal(['sent', 'bob@example.test', 'Re: Figures']);
    const [mail] = stage.smtp.taken;
    expect(mail?.to).to.equal(['bob@example.test']);
    const text = mail?.text ?? '';
    expect(headerOf(text, 'From')).to.contain('ada@example.test');
    expect(headerOf(text, 'Subject')).to.equal('Re: Figures');
    expect(headerOf(text, 'In-Reply-To')).to.equal('<figures@example.test>');
    expect(headerOf(text, 'References')).to.equal('<first@example.test> <figures@example.test>');
    expect(text).to.contain('\r\n\r\nHere.');
  });

  it(
    'answers all, each once and not oneself, with a file of this machine',
    IF_INSTALLED,
    async () => {
      const path = join(config.folder, 'figures.csv');
      await writeFile(path, 'month,sum\n');
      const { code, stderr } = await run(
        ...['email', 'reply', 'Figures', '--all', '--text', 'Attached.', '--attach', path],
      );
      expect([code, stderr]).to.equal([0, '']);
      const mail = stage.smtp.taken.at(-1);
      expect(mail?.to).to.equal(['bob@example.test', 'eve@example.test', 'carol@example.test']);
      expect(headerOf(mail?.text ?? '', 'Cc')).to.equal('eve@example.test, carol@example.test');
      expect(mail?.text).to.contain('filename=figures.csv');
      expect(mail?.text).to.contain(Buffer.from('month,sum\n').toString('base64'));
    },
  );

  it(
    'keeps a draft with short ids and a file, and shows it whole in a pipe',
    IF_INSTALLED,
    async () => {
      const path = join(config.folder, 'more.csv');
      await writeFile(path, 'month,more\n');
      const [mail] = (await stage.call('GET', '/api/email/messages')).body.messages;
      const kept = await run(
        ...['email', 'drafts', 'create', '--in-reply-to', mail.id.slice(-6)],
        ...['--account', 'ada@example.test', '--text', 'Soon.\nAda', '--attach', path],
      );
      expect([kept.code, kept.stderr]).to.equal([0, '']);
      const [draft] = (await stage.call('GET', '/api/email/drafts')).body.drafts;
      expect([draft.to, draft.subject, draft.inReplyTo, draft.attachments.length]).to.equal([
        ...[['bob@example.test'], 'Re: Figures', mail.id, 1],
      ]);
      const shown = await run('email', 'drafts', 'get', draft.id.slice(-6));
      expect([shown.code, shown.stdout]).to.equal([0, 'Soon.\nAda\n']);
      const sent = await run('email', 'drafts', 'send', draft.id.slice(-6));
      expect([sent.code, sent.stdout]).to.equal([0, '']);
      const last = await until(
        async () => stage.smtp.taken.at(-1)?.text ?? '',
        (text) => text.includes('Soon.'),
      );
      expect(headerOf(last, 'In-Reply-To')).to.equal('<figures@example.test>');
    },
  );

  it('keeps a draft, and sends nothing without a text', IF_INSTALLED, async () => {
    const count = stage.smtp.taken.length;
    const kept = await run('email', 'reply', 'Figures', '--draft', '--text', 'Later.');
    expect([kept.code, kept.stderr]).to.equal([0, '']);
    const { drafts } = (await stage.call('GET', '/api/email/drafts')).body;
    expect(drafts[0]).to.include({
      ...{ id: kept.stdout.trim(), to: ['bob@example.test'] },
      ...{ subject: 'Re: Figures', text: 'Later.' },
    });
    const bare = await run('email', 'reply', 'Figures');
    expect([bare.code, bare.stderr]).to.equal([
      2,
      'The text is missing. Add --text or --text-file.\n',
    ]);
    expect(stage.smtp.taken.length).to.equal(count);
  });
});
