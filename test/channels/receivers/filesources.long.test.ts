import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../../agents/stage.js';
import { untilAtLeast, untilMatches } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import * as mattermost from '../../harness/mattermost.js';
import * as slack from '../../harness/slack.js';
import { openForSuite } from '../../harness/suite.js';
import { openTarget } from '../../harness/target.js';
import * as whatsapp from '../../harness/whatsapp.js';
import { deliver, moveOn, movingClock, SLACK_FIELDS, setUp } from './desk.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

/** The name and the outcome of each file that was fetched, oldest first. */
const told = async (texts: () => string[], count: number): Promise<string[]> => {
  const all = await untilAtLeast(async () => texts(), count);
  return all.map((text) => text.replace(/ It is document_\w+\.$/, ''));
};

const clock = movingClock();
const stage = openForSuite(lab, () => startStage({}, clock));
const kept = async () => (await stage.ask('GET', '/api/documents?limit=200')).body.documents;
beforeEach(() => moveOn(stage, clock));

describe('files of Slack', () => {
  let server: slack.Slack;
  const texts = () => server.texts();
  before(async () => {
    server = await slack.openSlack();
    await setUp(stage, 'slack', { baseUrl: server.baseUrl, fields: SLACK_FIELDS });
    await linkChannel(stage, stage.userId, { kind: 'slack', ...slack.ADA });
    await untilMatches(async () => texts(), { length: 1 });
    server.calls.length = 0;
  });
  after(() => server.close());

  const send = (id: string, files: object[], event = {}) => {
    const shared = { subtype: 'file_share', files, ...event };
    const request = slack.written('', clock.now(), { event_id: id, event: shared });
    return deliver(stage, '/api/teamchat-webhook', request);
  };

  it('are fetched with the token of the bot, all of a message', async () => {
    server.files.set('F1', { content: 'One of Slack', name: 'one.txt' });
    server.files.set('F2', { content: 'a,b\n1,2\n', name: 'two two.csv' });
    server.files.set('F3', { content: 'Three of Slack', name: 'three.txt' });
    // A channel that two workspaces share tells the ID alone.
    const shared = { id: 'F3', mode: 'file_access', file_access: 'check_file_info' };
    await send('E1', [server.fileObject('F1'), server.fileObject('F2'), shared]);
    const [answer] = await told(texts, 1);
    expect(answer?.split('\n').map((line) => line.replace(/ Document: .*/, ''))).to.equal([
      '"one.txt" is stored and indexed: 1 page.',
      '"two two.csv" is stored and indexed: 1 page.',
      '"three.txt" is stored and indexed: 1 page.',
    ]);
  });

  it('are ten of a message at most, and none of a channel', async () => {
    const files = Array.from({ length: 12 }, (_, at) => {
      server.files.set(`G${at}`, { content: `Number ${at}`, name: `${at}.txt` });
      return server.fileObject(`G${at}`);
    });
    await send('E2', files, { channel_type: 'channel' });
    await send('E3', files);
    const answer = (await told(texts, 2)).at(-1)?.split('\n') ?? [];
    expect([answer.length, answer.at(-1)]).to.equal([
      11,
      '2 more files were not stored. Send at most 10 files at a time.',
    ]);
  });

  it('of other hosts are not fetched, and get no token', async () => {
    const other = await openTarget();
    const urls = [
      `${other.url}/files-pri/T1-F1/download/x.txt`,
      `http://files.slack.com/files-pri/T1-F1/download/x.txt`,
      'https://files.slack.com.example.org/x.txt',
      'https://files.slack.com:8443/x.txt',
      'https://files.slack.com@example.org/x.txt',
      'file:///etc/passwd',
    ];
    const files = urls.map((url, at) => ({
      ...{ id: `H${at}`, name: `h${at}.txt`, size: 1 },
      url_private_download: url,
    }));
    await send('E4', files);
    const answer = (await told(texts, 3)).at(-1);
    expect(answer?.split('\n')).to.equal(
      urls.map(
        (_, at) =>
          `"h${at}.txt" was not stored: it could not be fetched: its URL does not belong to the platform.`,
      ),
    );
    expect(other.received).to.equal([]);
    other.close();
  });

  it('say what is missing where the app may not read them', async () => {
    const answer = (response: ServerResponse) =>
      void response.writeHead(302, { location: 'https://example.org/?redir=' }).end();
    server.files.set('F9', { content: 'x', name: 'nine.txt', answer });
    await send('E5', [server.fileObject('F9')]);
    expect((await told(texts, 4)).at(-1)).to.contain(
      'The app may lack the permission to read files',
    );
  });
});

describe('files of WhatsApp', () => {
  let server: Awaited<ReturnType<typeof whatsapp.openWhatsapp>>;
  const texts = () =>
    server.sent.map(({ text }) => String(JSON.parse(JSON.stringify(text ?? {})).body));
  before(async () => {
    server = await whatsapp.openWhatsapp();
    const fields = {
      appSecret: whatsapp.APP_SECRET,
      verifyToken: whatsapp.VERIFY_TOKEN,
      phoneNumberId: whatsapp.PHONE_NUMBER_ID,
      accessToken: whatsapp.ACCESS_TOKEN,
    };
    await setUp(stage, 'whatsapp', { baseUrl: server.baseUrl, fields });
    await linkChannel(stage, stage.userId, { kind: 'whatsapp', ...whatsapp.ADA });
    await untilMatches(async () => texts(), { length: 1 });
    server.sent.length = 0;
  });
  after(() => server.close());
  const send = (type: string, content: object) =>
    deliver(stage, '/api/messenger-webhook', whatsapp.sent(type, content));

  it('are fetched by the address that the API tells', async () => {
    server.files.set('1003383421387256', { content: 'A document of WhatsApp.' });
    const document = { id: '1003383421387256', filename: 'w.txt', mime_type: 'text/plain' };
    await send('document', document);
    await send('document', document);
    expect((await told(texts, 1))[0]).to.match(
      /^"w\.txt" is stored and indexed: 1 page\. Document: document_\w+\.$/,
    );
    expect((await kept())[0].filename).to.equal('w.txt');
  });

  it('of other hosts are not fetched, and get no token', async () => {
    const other = await openTarget();
    server.files.set('22', { content: 'x', url: `${other.url}/whatsapp_business/?mid=22` });
    await deliver(stage, '/api/messenger-webhook', {
      ...whatsapp.notification({
        contacts: [{ profile: { name: 'Ada' }, wa_id: whatsapp.ADA.id }],
        messages: [{ from: whatsapp.ADA.id, id: 'wamid.2', type: 'image', image: { id: '22' } }],
      }),
    });
    expect((await told(texts, 2)).at(-1)).to.equal(
      '"A file" was not stored: it could not be fetched: its URL does not belong to the platform.',
    );
    expect(other.received).to.equal([]);
    other.close();
  });
});

describe('files of Mattermost', () => {
  let server: Awaited<ReturnType<typeof mattermost.openMattermost>>;
  const texts = () => server.posts.map(({ message }) => String(message));
  before(async () => {
    server = await mattermost.openMattermost();
    const fields = { botToken: mattermost.BOT_TOKEN, commandTokens: mattermost.COMMAND_TOKEN };
    await setUp(stage, 'mattermost', { baseUrl: server.baseUrl, fields });
    await linkChannel(stage, stage.userId, { kind: 'mattermost', ...mattermost.ADA });
    await untilMatches(async () => texts(), { length: 1 });
    server.posts.length = 0;
  });
  after(() => server.close());

  it('are fetched as the bot, with the name that the server tells', async () => {
    const [one, two] = ['a'.repeat(26), 'b'.repeat(26)];
    server.files.set(one, { content: 'One of Mattermost', name: 'mm one.txt' });
    server.files.set(two, { content: 'Two of Mattermost', name: 'mm two.md' });
    const request = mattermost.post('', { files: `${one},${two}` });
    expect((await deliver(stage, '/api/teamchat-webhook', request)).status).to.equal(200);
    await told(texts, 1);
    const names = (await kept()).slice(0, 2).map(({ filename }: { filename: string }) => filename);
    expect(names).to.equal(['mm two.md', 'mm one.txt']);
  });

  it('that the bot may not read are named with the reason', async () => {
    const files = 'c'.repeat(26);
    const request = mattermost.post('', { id: 'h19wczuo4tn6unyjx5qrwcd5mo', files });
    await deliver(stage, '/api/teamchat-webhook', request);
    expect((await told(texts, 2)).at(-1)).to.match(/could not be fetched: Mattermost returned 404/);
  });
});
