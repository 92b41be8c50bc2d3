import { readFile } from 'node:fs/promises';
import { createServer, type TLSSocket } from 'node:tls';
import type { Certificate } from '../tunnels/tls.js';

/** Message of a scripted IMAP server. */
export interface ScriptedMessage {
  uid: number;
  subject: string;
  size: number;
  /** Date of arrival, as IMAP writes it. Defaults to the first of February 2026. */
  arrival?: string;
  /** Header. Defaults to that of the subject. */
  header?: string;
  /** BODYSTRUCTURE. Defaults to one character of plain text. */
  structure?: string;
  /** First part. Defaults to `x`. */
  text?: string;
  /** False: its envelope has no Message-ID. */
  hasId?: boolean;
}

/** IMAP server with wrong counts and UIDs, and duplicate messages. */
export interface FaultyImapServer {
  port: number;
  /** Messages of the inbox. */
  messages: ScriptedMessage[];
  /** Messages of further folders. */
  folders: Record<string, ScriptedMessage[]>;
  uidNext: number;
  uidValidity: number;
  /** UIDs answered with NO. */
  refused: number[];
  /** Whether IDLE is supported. */
  canIdle: boolean;
  /** Whether logins succeed. */
  isRight: boolean;
  /** Command lines without their tags. */
  commands: string[];
  /** Lines sent before the reply to a command, such as `uid search`, whose line is given. */
  before: Record<string, (line: string) => Iterable<string> | AsyncIterable<string>>;
  /** Reports new messages to the sessions with an open IDLE. */
  announce(): void;
  breakOff(): void;
  close(): void;
}

const ARRIVAL = '01-Feb-2026 09:30:00 +0000';

const fetched = (told: ScriptedMessage, at: number): string => {
  const { uid, subject, size, arrival = ARRIVAL } = told;
  const id = told.hasId === false ? 'NIL' : `"<${subject}@liar.example.org>"`;
  const envelope = `(NIL "${subject}" (("Bob" NIL "bob" "example.org")) NIL NIL NIL NIL NIL NIL ${id})`;
  const { structure = '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 1 1)', text = 'x' } = told;
  const header = told.header ?? `Subject: ${subject}\r\n\r\n`;
  const facts = [
    `UID ${uid} FLAGS () RFC822.SIZE ${size} INTERNALDATE "${arrival}"`,
    `ENVELOPE ${envelope} BODYSTRUCTURE ${structure}`,
    `BODY[HEADER.FIELDS (SUBJECT)] {${header.length}}\r\n${header}`,
    `BODY[1]<0> {${text.length}}\r\n${text}`,
  ];
  return `* ${at} FETCH (${facts.join(' ')})\r\n`;
};

export const startFaultyImap = async ({
  certificate,
  key,
}: Certificate): Promise<FaultyImapServer> => {
  const liar: FaultyImapServer = {
    port: 0,
    messages: [],
    folders: {},
    uidNext: 1,
    uidValidity: 1,
    refused: [],
    canIdle: false,
    isRight: true,
    commands: [],
    before: {},
    announce: () => {
      for (const socket of idling.keys()) socket.write(`* ${++exists} EXISTS\r\n`);
    },
    breakOff: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: () => server.close(),
  };
  const sockets = new Set<TLSSocket>();
  /** Tags of the IDLE commands. */
  const idling = new Map<TLSSocket, string>();
  let exists = 100_000;
  const answers: Record<string, (messages: ScriptedMessage[], line: string) => string> = {
    capability: () =>
      `* CAPABILITY IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR${liar.canIdle ? ' IDLE' : ''}\r\n`,
    list: (_, line) =>
      line.endsWith('""')
        ? '* LIST (\\Noselect) "/" ""\r\n'
        : ['INBOX', ...Object.keys(liar.folders)]
            .map((name) => `* LIST () "/" ${name}\r\n`)
            .join(''),
    examine: () =>
      `* ${exists} EXISTS\r\n* OK [UIDVALIDITY ${liar.uidValidity}] x\r\n* OK [UIDNEXT ${liar.uidNext}] x\r\n`,
    // Finds each message twice, newest first, and one that does not exist.
    'uid search': (messages) => {
      const uids = messages.map(({ uid }) => uid).reverse();
      return `* SEARCH ${[...uids, 999, ...uids].join(' ')}\r\n`;
    },
    // Sends all messages, requested or not, each twice.
    'uid fetch': (messages) => {
      const given = messages.filter(({ uid }) => !liar.refused.includes(uid));
      return [...given, ...given].map(fetched).join('');
    },
    logout: () => '* BYE\r\n',
  };
  const server = createServer(
    { cert: await readFile(certificate), key: await readFile(key) },
    (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        idling.delete(socket);
      });
      socket.write('* OK ready\r\n');
      let rest = '';
      let selected = 'INBOX';
      const messages = () =>
        selected === 'INBOX' ? liar.messages : (liar.folders[selected] ?? []);
      socket.on('data', async (data) => {
        const lines = (rest + data.toString()).split('\r\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const [, tag = '', verb = '', range = ''] =
            /^(\S+) (UID \S+|\S+)(?: ([\d,:]+))?/.exec(line) ?? [];
          const asked = range.split(',').map((each) => each.split(':').map(Number));
          const isAsked = (uid: number): boolean =>
            asked.some(([from = 0, to = from]) => uid >= from && uid <= to);
          const name = verb.toLowerCase();
          liar.commands.push(tag === '' ? line : line.slice(tag.length + 1));
          selected = /^\S+ EXAMINE "?(\w+)/i.exec(line)?.[1] ?? selected;
          if (name === 'idle') {
            idling.set(socket, tag);
            socket.write('+ idling\r\n');
            continue;
          }
          if (line.toLowerCase() === 'done') {
            socket.write(`${idling.get(socket)} OK done\r\n`);
            idling.delete(socket);
            continue;
          }
          const isRefused = name === 'uid fetch' && liar.refused.some(isAsked);
          for await (const said of liar.before[name]?.(line) ?? []) {
            await new Promise((resolve) => socket.write(said, resolve));
            if (socket.destroyed) return;
          }
          if (!liar.isRight && ['authenticate', 'login'].includes(name)) {
            socket.write(`${tag} NO [AUTHENTICATIONFAILED] wrong\r\n`);
            continue;
          }
          socket.write(
            isRefused
              ? `${tag} NO [SERVERBUG] not now\r\n`
              : `${answers[name]?.(messages(), line) ?? ''}${tag} OK done\r\n`,
          );
        }
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  liar.port = typeof address === 'object' && address ? address.port : 0;
  return liar;
};
