import type { Http } from '../../kernel/http.js';
import type { Headers } from '../../kernel/signature.js';

/**
 * One platform on which people write: what it takes to send there, and to believe what comes from
 * there. An adapter is pure but for `send`, `conclude`, `check` and `install`; it stores nothing,
 * knows no user, and is told the time. `platforms.ts` lists them.
 */
export interface Platform {
  kind: PlatformKind;
  /** The endpoint that its requests arrive at. */
  door: 'teamchat' | 'messenger';
  /** Of the real service, without a trailing slash; an admin may set another. */
  baseUrl: string;
  /** What an admin sets. */
  fields: readonly PlatformField[];
  /** What the admin does at the platform, one step a line. `receiver` is where requests arrive. */
  setup(receiver: string): string[];

  /** Whether the request says, by its own headers, that it is of this platform. Proves nothing. */
  claims(headers: Headers): boolean;
  /** Whether the platform sent exactly this. False wherever the secret is not set. `now` in ms. */
  verify(request: InboundRequest, settings: PlatformSettings, now: number): boolean;
  /** What a verified request says; one may hold several. What cannot be read is ignored. */
  parse(request: InboundRequest, settings: PlatformSettings): Inbound[];
  /** The reply to a GET that proves the endpoint to be ours; null: refused. */
  handshake?(query: Record<string, unknown>, settings: PlatformSettings): string | null;
  /**
   * The body that says this in reply to the platform's own request; null: it takes no such reply.
   * `isOver`: the question that a button was under is decided.
   */
  answer(event: Spoken, text: string, isOver?: boolean): object | null;
  /** The body where the answer comes later, for a platform that takes none for a failure. */
  taken?(): object;

  /** The messages that the text takes, each within the platform's limits; nothing in it is markup. */
  render(message: ChannelMessage): PlatformBody[];
  /** Sends one of them, once. Throws only when `signal` is aborted. */
  send(reach: PlatformReach, to: string, part: PlatformBody): Promise<PlatformSent>;
  /** A decided question: takes its buttons away and says what came of it. Failures are verdicts. */
  conclude?(reach: PlatformReach, event: ButtonEvent, text: string): Promise<PlatformSent>;
  /** Whether what is set works: who we are there, or why not. */
  check(reach: PlatformReach): Promise<PlatformCheck>;
  /** Tells the platform where to send its requests, where it can be told. */
  install?(reach: PlatformReach): Promise<PlatformCheck>;
}

/** Those of the bindings that have an adapter. `email` is not one: mail is read, not received. */
export type PlatformKind = 'slack' | 'teams' | 'mattermost' | 'telegram' | 'whatsapp';

/** One thing that an admin sets, by its name in the API. */
export interface PlatformField {
  name: string;
  /** Where it is found at the platform. */
  doc: string;
  /** Sealed, and never shown again. */
  isSecret: boolean;
  /** What it must look like, and that in words: `must be …`. */
  form?: { pattern: RegExp; fault: string };
  /** Without it: `send` nothing is sent, `receive` the endpoint stays closed. */
  neededTo?: readonly ('send' | 'receive')[];
}

export interface PlatformSettings {
  /** Without a trailing slash. */
  baseUrl: string;
  /** Of `fields`, those that are set. */
  values: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
}

export interface PlatformReach {
  http: Http;
  settings: PlatformSettings;
  /** Where its requests arrive. */
  receiver: string;
  signal: AbortSignal;
}

export interface InboundRequest {
  headers: Headers;
  body: Buffer;
}

/** Who wrote, as the platform proved it: an id that is never given to another, and a name to show. */
export interface InboundSender {
  id: string;
  name: string;
}

interface Event {
  sender: InboundSender;
  /** Unique on the platform and the same over its retries. */
  eventId: string;
  /** Whatever the adapter needs to answer there. */
  replyTo: string | null;
}
export interface MessageEvent extends Event {
  kind: 'message';
  /** A slash command is `/link K7MPXA`. */
  text: string;
  /** The words are of somebody else, handed on by the sender. */
  isForwarded?: true;
  /** What is answered is read by others too. */
  isOverheard?: true;
  /** A picture, a recording, a file that the sender put no words to: the text is empty. */
  isWordless?: true;
}
export interface ButtonEvent extends Event {
  kind: 'button';
  approvalId: string;
  /** Of the call that was shown: its first digits at least, as many as the platform keeps. */
  digest: string;
  approved: boolean;
}
export type Spoken = MessageEvent | ButtonEvent;
/** What the platform took from us and cannot deliver; `to` as in `send`. */
export interface UndeliveredEvent {
  kind: 'undelivered';
  to: string;
  receipt: string;
  error: string;
}
export type Inbound =
  | Spoken
  | UndeliveredEvent
  | { kind: 'challenge'; reply: object }
  | { kind: 'ignored' };

/** What is said to one channel. Plain text of whoever: an adapter escapes all of it. */
export interface ChannelMessage {
  /** One line, shown above the text. */
  title: string | null;
  text: string;
  /** A call that waits for its owner's word: with buttons, on the last part, where there are any. */
  question?: { approvalId: string; digest: string };
}

/** The body of one request to the platform, without who it is for. */
export type PlatformBody = Readonly<Record<string, unknown>>;

/** How one sending ended, in the words of the outbox. */
export type PlatformSent = { status?: number; excerpt?: string } & (
  | { verdict: 'sent'; receipt: string | null }
  /** Nothing arrived: worth another try, after at least so long. */
  | { verdict: 'retry'; error: string; afterMs?: number }
  | { verdict: 'failed'; error: string }
  /** It may have arrived: the answer was lost. */
  | { verdict: 'unknown'; error: string }
);

export type PlatformCheck = { ok: true; account: string } | { ok: false; error: string };
