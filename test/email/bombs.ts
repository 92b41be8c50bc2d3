import { expect } from '@hapi/code';
import { until } from '../harness/app.js';
import { startFaultyImap } from '../harness/mail/faultyimap.js';
import type { MailStage } from './stage.js';

export const MIB = 1024 * 1024;

const head = (subject: string): string =>
  `From: bob@example.org\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.org>\r\n`;

/** A message of so many multiparts, each within the one before. */
const nested = (depth: number): string => {
  const levels = Array.from({ length: depth }, (_, n) => n);
  const open = levels.map(
    (n) => `Content-Type: multipart/mixed; boundary=n${n}\r\n\r\n--n${n}\r\n`,
  );
  const close = levels.reverse().map((n) => `\r\n--n${n}--\r\n`);
  return `${head('nested')}${open.join('')}\r\nx${close.join('')}`;
};

const manyParts = (count: number): string => {
  const part = '--p\r\nContent-Disposition: attachment; filename=x\r\n\r\nx\r\n';
  const type = 'Content-Type: multipart/mixed; boundary=p\r\n\r\n';
  return `${head('parts')}${type}${part.repeat(count)}--p--\r\n`;
};

/** Text and HTML of many characters in few bytes of a header that says less. */
const large = (): string => {
  const type =
    'Content-Type: text/html; charset=iso-2022-jp\r\nContent-Transfer-Encoding: quoted-printable';
  return `${head('large')}${type}\r\n\r\n${'<div>=41=\r\n'.repeat(1_000_000)}`;
};

/** Returns the ID of the mail account. */
export const deliverBombs = async (stage: MailStage): Promise<string> => {
  const { id } = (await stage.account('bombed')).body;
  for (const message of [nested(1000), manyParts(10_000), large(), `${head('good')}\r\nHello`]) {
    await stage.dovecot.deliver('bombed', message);
  }
  return id;
};

export const processBombs = async (stage: MailStage, accountId: string): Promise<void> => {
  const { body } = await stage.call('POST', '/api/email/process', { accountId });
  const ended = await until(
    async () => (await stage.call('GET', `/api/operations/${body.id}`)).body,
    ({ status }) => status !== 'queued' && status !== 'running',
    30_000,
  );
  expect([ended.status, ended.error, ended.result?.processed]).to.equal(['completed', null, 4]);
  const { messages } = (await stage.call('GET', '/api/email/messages')).body;
  const bySubject = new Map<string, { id: string; attachments: unknown[] }>(
    messages.map((each: { subject: string }) => [each.subject, each]),
  );
  expect([...bySubject.keys()].sort()).to.equal(['good', 'large', 'nested', 'parts']);
  expect(bySubject.get('parts')?.attachments.length).to.equal(200);
  const read = async (subject: string) =>
    (await stage.call('GET', `/api/email/messages/${bySubject.get(subject)?.id}`)).body;
  const shown = await read('large');
  expect([shown.isCut, shown.html.length < MIB]).to.equal([true, true]);
  expect((await read('nested')).text.length < MIB).to.be.true();
  expect((await read('good')).text.trim()).to.equal('Hello');
};

type List = () => ReturnType<MailStage['call']>;

/** Runs `measured` around each list of messages. */
export const listLongHeaders = async (
  stage: MailStage,
  measured: (list: List) => ReturnType<List>,
): Promise<void> => {
  const liar = await startFaultyImap(stage.certificate);
  const imap = { host: 'localhost', port: liar.port, tls: 'implicit' };
  const { id } = (await stage.account('headers', { imap, syncDays: 3650 })).body;
  const lines = (bytes: number) => `Subject: x\r\n${'to:b\r\n'.repeat(bytes / 6)}\r\n`;
  const list = () => stage.call('GET', `/api/email/messages?accountId=${id}`);
  liar.messages = [1, 2, 3].map((uid) => {
    return { uid, subject: `header ${uid}`, size: 1, header: lines(MIB - 1000) };
  });
  expect((await measured(list)).body.messages.length).to.equal(3);
  // More than was asked for: it is not taken in.
  stage.clock.forward(60_000);
  liar.messages = [{ uid: 4, subject: 'huge', size: 1, header: lines(3 * MIB) }];
  await measured(list);
  const { status } = (await stage.call('GET', `/api/email/accounts/${id}`)).body;
  expect(status).to.equal('failing');
  liar.close();
};
