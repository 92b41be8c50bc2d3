import { createHmac } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { linkChannel } from '../../harness/channel.js';
import * as discord from '../../harness/discord.js';
import * as chat from '../../harness/mattermost.js';
import * as slack from '../../harness/slack.js';
import { openTarget, type Target } from '../../harness/target.js';
import * as teams from '../../harness/teams.js';
import * as telegram from '../../harness/telegram.js';
import * as cloud from '../../harness/whatsapp.js';
import { type Desk, openPlatforms, type Request } from './desk.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ODD = [null, 7, -1.5, true, '', 'x', '\u0000\ud800', [], {}, [[]], 'y'.repeat(3000)];

/** The value with each of its parts in turn taken away or replaced by what it cannot be. */
function* oddOf(value: unknown): Generator<unknown> {
  yield* ODD;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    const put = (odd: unknown) =>
      Array.isArray(value)
        ? value.map((one, at) => (String(at) === key ? odd : one))
        : { ...value, [key]: odd };
    for (const odd of oddOf(part)) yield put(odd);
    yield put(undefined);
  }
}

const FIELDS = {
  whatsapp: { appSecret: cloud.APP_SECRET, verifyToken: cloud.VERIFY_TOKEN },
  teams: { securityToken: teams.SECURITY_TOKEN },
  mattermost: { commandTokens: chat.COMMAND_TOKEN },
  discord: { botToken: discord.BOT_TOKEN, publicKey: discord.PUBLIC_KEY },
};
/** As Standard Webhooks has it. */
const signing = (secret: string, id: string, body: string) => {
  const at = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${mac}` };
};
const BUTTON = { action_id: 'approve', value: `approval_x:${'a'.repeat(64)}` };

describe('the endpoints of platforms', () => {
  let desk: Desk;
  let target: Target;
  /** What answers the platforms must not look for the real ones. */
  let platforms: Target;
  before(async () => {
    target = await openTarget();
    platforms = await openTarget();
    desk = await openPlatforms({ egressAllow: [target.address] });
    for (const [kind, fields] of Object.entries(FIELDS)) {
      const baseUrl = kind === 'teams' ? {} : { baseUrl: `http://${platforms.address}` };
      const body = { fields, ...baseUrl };
      const { status } = await desk.ask('PUT', `/api/admin/platforms/${kind}`, body);
      expect(status).to.equal(200);
    }
    const person = `${teams.TENANT}:${teams.ADA.id}`;
    for (const sender of [
      { kind: 'slack' as const, ...slack.ADA },
      { kind: 'telegram' as const, ...telegram.ADA },
      { kind: 'whatsapp' as const, ...cloud.ADA },
      { kind: 'mattermost' as const, ...chat.ADA },
      { kind: 'discord' as const, ...discord.ADA },
      { kind: 'teams' as const, id: person, name: 'Ada' },
    ]) {
      await linkChannel(desk, desk.userId, sender);
    }
  });
  after(async () => {
    await desk.stop();
    target.close();
    platforms.close();
  });

  const warnings: string[] = [];
  const warned = (warning: Error) => void warnings.push(String(warning));
  before(() => void process.on('warning', warned));
  after(() => void process.off('warning', warned));

  const refused: string[] = [];
  /** All that is proven is taken, whatever it says. */
  const sendAll = async (send: Desk['toMessenger'], requests: Iterable<Request>) => {
    let count = 0;
    for (const request of requests) {
      const { status, text } = await send(request);
      count++;
      if (status !== 200) refused.push(`${status} ${text} to ${request.body.slice(0, 500)}`);
    }
    expect([refused, warnings]).to.equal([[], []]);
    return count;
  };
  function* odd({ body }: Request, sign: (body: string) => Request): Generator<Request> {
    for (const value of oddOf(JSON.parse(body))) yield sign(JSON.stringify(value) ?? '');
  }

  it('take whatever Slack signs, however odd', async () => {
    const sign = (body: string) => slack.signed(body, Date.now());
    const form = (fields: Record<string, string>) => sign(String(new URLSearchParams(fields)));
    const press = slack.pressed(BUTTON, Date.now());
    const payload = { ...press, body: new URLSearchParams(press.body).get('payload') ?? '' };
    const tried = await sendAll(desk.toTeamchat, odd(slack.written('!status', Date.now()), sign));
    expect(tried).to.be.above(150);
    await sendAll(
      desk.toTeamchat,
      odd(payload, (text) => form({ payload: text })),
    );
    const command = Object.fromEntries(
      new URLSearchParams(slack.commanded('/adjutant', '/status', 1).body),
    );
    const forms = Object.keys(command).flatMap((key) =>
      ['', '\u0000', '%', 'y'.repeat(3000)].map((value) => form({ ...command, [key]: value })),
    );
    await sendAll(desk.toTeamchat, forms);
  });

  it('take whatever Telegram shows its token with', async () => {
    const sign = (body: string) => ({ ...telegram.written(1, ''), body });
    await sendAll(desk.toMessenger, odd(telegram.written(1, '/status'), sign));
    const data = `y:approval_x:${'a'.repeat(24)}`;
    await sendAll(desk.toMessenger, odd(telegram.pressed(2, data), sign));
  });

  it('take whatever Meta signs', async () => {
    const sign = (body: string) => ({ body, headers: cloud.signed(body, cloud.APP_SECRET) });
    await sendAll(desk.toMessenger, odd(cloud.written('/status'), sign));
    await sendAll(desk.toMessenger, odd(cloud.pressed(`approve:a:${'a'.repeat(64)}`, 'A'), sign));
    const failed = cloud.became('failed', 'wamid.sent1', [{ code: 131047, title: 'x' }]);
    await sendAll(desk.toMessenger, odd(failed, sign));
  });

  it('take whatever Mattermost shows its token with', async () => {
    const { headers, body } = chat.post('/status');
    function* shown(): Generator<Request> {
      for (const value of oddOf(JSON.parse(body))) {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        const token = chat.COMMAND_TOKEN;
        yield { headers, body: JSON.stringify({ ...(isObject && value), token }) };
      }
    }
    await sendAll(desk.toTeamchat, shown());
  });

  it('take whatever Discord signs', async () => {
    const sign = (body: string) => discord.signed(JSON.parse(body || 'null'));
    const all = [
      discord.commanded('status', 'x'),
      discord.pressed(`y:approval_x:${'a'.repeat(48)}`),
    ];
    for (const interaction of all) {
      const request = { headers: {}, body: JSON.stringify(interaction) };
      expect(await sendAll(desk.toTeamchat, odd(request, sign))).to.be.above(100);
    }
  });

  it('take whatever Teams signs, with a time that fits', async () => {
    const activity = JSON.parse(teams.said('/status', Date.now()).body);
    function* signed(): Generator<Request> {
      for (const value of oddOf(activity)) {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        const timestamp = new Date().toISOString();
        const body = JSON.stringify({ ...(isObject && value), timestamp });
        yield { headers: teams.signed(body, teams.SECURITY_TOKEN), body };
      }
    }
    await sendAll(desk.toTeamchat, signed());
  });

  it('take whatever a webhook channel signs', async () => {
    const { body } = await desk.ask('POST', '/api/channels', { kind: 'webhook', url: target.url });
    const [sent] = await target.got(1);
    const { code } = JSON.parse(sent?.body ?? '').data;
    const { id } = body.channel;
    await desk.ask('POST', `/api/channels/${id}/verify`, { code });
    let count = 0;
    function* signed(said: object): Generator<Request> {
      for (const value of oddOf(said)) {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        const text = JSON.stringify({ ...(isObject && value), channelId: id });
        yield { headers: signing(body.secret, `msg_${++count}`, text), body: text };
      }
    }
    await sendAll(desk.toMessenger, signed({ text: '/status' }));
    const answer = { approvalId: 'approval_x', digest: 'a'.repeat(64), approved: true };
    await sendAll(desk.toMessenger, signed(answer));
  });

  it('take a megabyte of nonsense that is proven, and no more', async () => {
    const MB = 1024 * 1024;
    const nonsense = [
      'x'.repeat(MB),
      '{'.repeat(MB),
      '['.repeat(MB),
      `{"event":${'['.repeat(MB - 20)}`,
      `${'['.repeat(MB / 2)}${']'.repeat(MB / 2)}`,
      `${'{"event":'.repeat(MB / 16)}1${'}'.repeat(MB / 16)}`,
      '{"__proto__":{"type":"event_callback"},"constructor":{"prototype":{"x":1}}}',
      `"${'\\u0000'.repeat(MB / 8)}"`,
      `<at>${'<'.repeat(MB - 10)}`,
      '&'.repeat(MB),
      'payload='.padEnd(MB, '%7B'),
      Buffer.alloc(MB, 0xff)
        .toString('latin1')
        .slice(0, MB / 2),
    ];
    const teamchat = nonsense.map((body) => slack.signed(body, Date.now()));
    const messenger = nonsense.flatMap((body) => [
      { ...telegram.written(1, ''), body },
      { body, headers: cloud.signed(body, cloud.APP_SECRET) },
    ]);
    await sendAll(desk.toTeamchat, teamchat);
    await sendAll(desk.toMessenger, messenger);
    for (const [send, request] of [
      [desk.toTeamchat, slack.signed('x'.repeat(MB + 1), Date.now())],
      [desk.toMessenger, { ...telegram.written(1, ''), body: 'x'.repeat(MB + 1) }],
    ] as const) {
      expect((await send(request)).status).to.equal(413);
    }
  });
});
