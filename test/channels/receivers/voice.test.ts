import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ChannelKind } from '../../../src/store/tables/channels.js';
import { startStage } from '../../agents/stage.js';
import { untilAtLeast } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import * as mattermost from '../../harness/mattermost.js';
import { says } from '../../harness/openai.js';
import type { ServedFile } from '../../harness/servedfile.js';
import * as slack from '../../harness/slack.js';
import { openForSuite } from '../../harness/suite.js';
import { openTarget } from '../../harness/target.js';
import * as telegram from '../../harness/telegram.js';
import * as whatsapp from '../../harness/whatsapp.js';
import { speechSample } from '../../voice/samples.js';
import { deliver, type Request, SLACK_FIELDS, setUp, TELEGRAM_FIELDS } from './desk.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** A platform with files, and a voice message there as the platform reports it. */
interface VoicePlatform {
  kind: ChannelKind;
  fields: Record<string, string>;
  sender: { id: string; name: string };
  path: string;
  open(): Promise<{
    baseUrl: string;
    files: Map<string, ServedFile>;
    texts(): string[];
    /** The report of the message `n` with a file that the platform stores. */
    report(n: number, file: string): Request;
    close(): void;
  }>;
  /** ID of the file of message `n`. */
  fileId(n: number): string;
  /** Name in replies. */
  name: string;
  /** Whether the platform reports the address of a file. */
  reportsAddress?: true;
}

const platforms: Record<string, VoicePlatform> = {
  telegram: {
    kind: 'telegram',
    fields: TELEGRAM_FIELDS,
    sender: telegram.ADA,
    path: '/api/messenger-webhook',
    name: 'voice message',
    fileId: (n) => `voice${n}`,
    open: async () => {
      const server = await telegram.openTelegram();
      return Object.assign(server, {
        texts: () => server.calls.map(({ text }) => String(text)),
        report: (n: number, file_id: string) => {
          const voice = { file_id, duration: 1, mime_type: 'audio/ogg' };
          return telegram.written(n, '', { text: undefined, voice });
        },
      });
    },
  },
  whatsapp: {
    kind: 'whatsapp',
    fields: {
      appSecret: whatsapp.APP_SECRET,
      verifyToken: whatsapp.VERIFY_TOKEN,
      phoneNumberId: whatsapp.PHONE_NUMBER_ID,
      accessToken: whatsapp.ACCESS_TOKEN,
    },
    sender: whatsapp.ADA,
    path: '/api/messenger-webhook',
    name: 'voice message',
    reportsAddress: true,
    fileId: (n) => `100338342138725${n}`,
    open: async () => {
      const server = await whatsapp.openWhatsapp();
      return Object.assign(server, {
        texts: () =>
          server.sent.map(({ text }) => String(JSON.parse(JSON.stringify(text ?? {})).body)),
        report: (n: number, id: string) => {
          const audio = { id, mime_type: 'audio/ogg; codecs=opus', sha256: 'x', voice: true };
          return whatsapp.notification({
            contacts: [{ profile: { name: 'Ada' }, wa_id: whatsapp.ADA.id }],
            messages: [{ from: whatsapp.ADA.id, id: `wamid.${n}`, type: 'audio', audio }],
          });
        },
      });
    },
  },
  slack: {
    kind: 'slack',
    fields: SLACK_FIELDS,
    sender: slack.ADA,
    path: '/api/teamchat-webhook',
    name: 'clip.mp4',
    reportsAddress: true,
    fileId: (n) => `F${n}`,
    open: async () => {
      const server = await slack.openSlack();
      return Object.assign(server, {
        report: (n: number, id: string) => {
          // A clip is reported with a video type or none (observed in 2026), and this subtype.
          const clip = { ...server.fileObject(id), mimetype: 'video/mp4', subtype: 'slack_audio' };
          const event = { subtype: 'file_share', files: [clip] };
          return slack.written('', Date.now(), { event_id: `Ev${n}`, event });
        },
      });
    },
  },
  mattermost: {
    kind: 'mattermost',
    fields: { botToken: mattermost.BOT_TOKEN, commandTokens: mattermost.COMMAND_TOKEN },
    sender: mattermost.ADA,
    path: '/api/teamchat-webhook',
    name: 'clip.mp4',
    fileId: (n) => `${n}`.repeat(26),
    open: async () => {
      const server = await mattermost.openMattermost();
      return Object.assign(server, {
        texts: () => server.posts.map(({ message }) => String(message)),
        report: (n: number, files: string) =>
          mattermost.post('', { files, id: `${'p'.repeat(25)}${n}` }),
      });
    },
  },
};

const NO_ENGINE = /cannot be transcribed: No speech engine is available .*whisper:base/;

/** Content that has no words, and the reason in the reply. */
const WORDLESS: [content: Buffer, reason: string][] = [
  [Buffer.from('This is no audio.'), 'audio is not a supported audio format'],
  [speechSample('clip.m4a'), 'audio is audio/x-m4a, which requires ffmpeg'],
  [Buffer.alloc(0), 'audio is empty'],
  [speechSample('opus.ogg').subarray(0, 60), 'The opus file is damaged'],
  [
    Buffer.concat([speechSample('pcm16.wav').subarray(0, 44), Buffer.alloc(16_000)]),
    'it contains only silence',
  ],
  [Buffer.alloc(26 * 1024 ** 2, speechSample('pcm16.wav')), 'audio is larger than 25 MiB'],
];

describe('a voice message', () => {
  const stage = openForSuite(lab, startStage);

  const lastPrompt = async (): Promise<string | undefined> =>
    (await stage.ask('GET', '/api/agents')).body.agents[0]?.prompt;

  for (const [kind, platform] of Object.entries(platforms)) {
    describe(`of ${kind}`, () => {
      let server: Awaited<ReturnType<VoicePlatform['open']>>;
      let count = 0;
      let answered = 0;
      before(async () => {
        await stage.restart();
        server = await platform.open();
        await setUp(stage, kind, { baseUrl: server.baseUrl, fields: platform.fields });
        await linkChannel(stage, stage.userId, { ...platform.sender, kind: platform.kind });
        answered = (await untilAtLeast(async () => server.texts(), 1)).length;
      });
      after(() => server.close());

      /** Sends a file as a voice message, and resolves to so many replies. */
      const send = async (
        content: Buffer,
        { replies = 1, ...over }: Partial<ServedFile> & { replies?: number } = {},
      ): Promise<string[]> => {
        const id = platform.fileId(++count);
        server.files.set(id, { content, name: 'clip.mp4', mime: 'audio/mp4', ...over });
        const { status } = await deliver(stage, platform.path, server.report(count, id));
        expect(status).to.equal(200);
        const all = await untilAtLeast(async () => server.texts(), answered + replies);
        const texts = all.slice(answered);
        answered = all.length;
        return texts.sort();
      };

      it('is transcribed, passed to the agents, and shown back', async () => {
        stage.model.script(says({ text: `Hello from ${kind}.` }));
        const texts = await send(speechSample('opus.ogg'), { replies: 2 });
        expect(texts).to.equal([`Hello from ${kind}.`, 'Transcript: “hello world”']);
        expect(await lastPrompt()).to.equal('hello world');
        expect((await stage.ask('GET', '/api/documents')).body.documents).to.equal([]);
      });

      it('is answered with the reason if it has no words', async () => {
        const agents = stage.model.asked.length;
        // What is not specific to a platform is tried once.
        for (const [content, reason] of kind === 'whatsapp' ? WORDLESS : WORDLESS.slice(0, 1)) {
          const [text = ''] = await send(content);
          expect(text).to.startWith(`"${platform.name}" `).and.contain(reason);
        }
        expect(stage.model.asked.length).to.equal(agents);
      });

      if (platform.reportsAddress) {
        it('is not fetched from another host, which gets no token', async () => {
          const other = await openTarget();
          const [text] = await send(speechSample('opus.ogg'), { url: `${other.url}/a.ogg` });
          expect(text).to.contain('could not be fetched: its URL does not belong to the platform');
          expect(other.received).to.equal([]);
          other.close();
        });
      }

      it('is answered if there is no engine', async () => {
        await stage.restart({ voicePath: ['/nowhere'] });
        const [text] = await send(speechSample('opus.ogg'));
        expect(text).to.match(NO_ENGINE);
      });
    });
  }
});
