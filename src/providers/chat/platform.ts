import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { Headers } from '../../kernel/signature.js';
import type { ButtonScope } from './buttonscopes.js';

/**
 * Pure except for `send`, `check` and `install`: stores nothing, knows no users, and gets the time
 * from its caller.
 */
export interface OutboundPlatform {
  kind: PlatformKind;
  /** Without it the platform sends no requests. */
  endpoint?: 'teamchat' | 'messenger';
  /** Default URL without trailing slash. */
  baseUrl: string;
  fields: readonly PlatformField[];
  /** Setup steps, one per line. `receiver` is the URL for the platform's requests. */
  setup(receiver: string): string[];

  /** Each within the limits of the platform. Text is never markup. */
  render(message: ChannelMessage): PlatformBody[];
  /** Free-text window after the user's last message; unlimited if absent. */
  freeTextMs?: number;
  /** Renderer after that window; null if nothing is configured. */
  late?(settings: PlatformSettings): ((message: ChannelMessage) => PlatformBody) | null;
  /** Throws only if `signal` is aborted. */
  send(reach: PlatformReach, to: string, part: PlatformBody): Promise<PlatformSent>;
  check(reach: PlatformReach): Promise<PlatformCheck>;
  /** Registers the receiver URL, if the platform has an API for it. */
  install?(reach: PlatformReach): Promise<PlatformCheck>;
}

export interface Platform extends OutboundPlatform {
  endpoint: 'teamchat' | 'messenger';
  /** By its headers. This proves nothing. */
  matchesHeaders(headers: Headers): boolean;
  /** False if the secret is not set. `now` is in ms. */
  verify(request: InboundRequest, settings: PlatformSettings, now: number): boolean;
  /** May contain several events. Unreadable content is ignored. */
  parse(request: InboundRequest, settings: PlatformSettings): Inbound[];
  /** Reply to an endpoint verification by GET; null to reject. */
  handshake?(query: Record<string, unknown>, settings: PlatformSettings): string | null;
  /** null if the platform allows no reply. `isOver` is true if the question is decided. */
  reply(event: ChatEvent, text: string, isOver?: boolean): object | null;
  /** Visible only to the sender; null if the event is in a private chat. Failures are verdicts. */
  replyAt?(
    reach: PlatformReach,
    event: ChatEvent,
    part: PlatformBody,
  ): Promise<PlatformSent> | null;
  /** For platforms that count an empty reply as a failure. */
  pendingReply?(): object;
  deferral?: PlatformDeferral;
  files?: PlatformFiles;
  /** Removes the buttons and shows the outcome. Failures are verdicts. */
  conclude?(reach: PlatformReach, event: ButtonEvent, text: string): Promise<PlatformSent>;
}

export interface PlatformDeferral {
  afterMs: number;
  reply(event: ChatEvent): object;
  /** null: nothing to send. Failures are verdicts. */
  finish(
    reach: PlatformReach,
    event: ChatEvent,
    outcome: { text: string; isOver: boolean } | null,
  ): Promise<PlatformSent>;
}

export type PlatformKind =
  | 'slack'
  | 'teams'
  | 'mattermost'
  | 'discord'
  | 'telegram'
  | 'whatsapp'
  | 'ntfy'
  | 'email';

export interface PlatformField {
  name: string;
  doc: string;
  /** Sealed and never shown again. */
  isSecret: boolean;
  /** Determines where secrets are sent: a change requires them again. */
  isPlace?: true;
  /** `fault`: `must be …`. */
  form?: { pattern: RegExp; fault: string };
  /** Required to send or to receive. Optional if absent. */
  requiredFor?: readonly ('send' | 'receive')[];
}

export interface PlatformSettings {
  /** Without trailing slash. */
  baseUrl: string;
  values: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
}

export interface PlatformReach {
  clock: Clock;
  http: Http;
  settings: PlatformSettings;
  /** Empty if the platform sends no requests. */
  receiver: string;
  /** How often the cause passed through this daemon. */
  hops?: number;
  signal: AbortSignal;
}

export interface InboundRequest {
  headers: Headers;
  body: Buffer;
}

/** An id that is never reused, and a display name. */
export interface InboundSender {
  id: string;
  /** Second id of the same person, possibly the only one in another event. */
  otherId?: string | undefined;
  name: string;
}

interface Event {
  sender: InboundSender;
  /** Unique on the platform and constant over retries. */
  eventId: string;
  /** Adapter data for a reply. */
  replyTo: string | null;
}

export interface MessageEvent extends Event {
  kind: 'message';
  /** A slash command has the form `/link K7MPXA`. */
  text: string;
  /** Written by another person. */
  isForwarded?: true;
  /** Other people can read the reply. */
  isReadByOthers?: true;
  /** A picture, recording or file without text. */
  hasNoText?: true;
  files?: PlatformFile[];
  /** The app split a longer text: the next message continues it. */
  isCut?: true;
  quoted?: QuotedMessage;
  /** Written in a thread or channel that is not read; the reply goes elsewhere. */
  repliesElsewhere?: true;
}

export interface QuotedMessage {
  /** Empty if only the id is known. */
  text: string;
  /** Absent if unknown. */
  by?: 'daemon' | 'sender' | 'other';
  /** Set if the daemon may have sent it. */
  receipt?: string;
}

/** `digest` is a prefix, as long as the platform stores. */
export interface ButtonEvent extends Event, Pick<PlatformQuestion, 'approvalId' | 'digest'> {
  kind: 'button';
  approved: boolean;
  /** Default once. */
  scope?: ButtonScope | undefined;
}

export type ChatEvent = MessageEvent | ButtonEvent;
/** `to` as in `send`. */
export interface UndeliveredEvent {
  kind: 'undelivered';
  to: string;
  receipt: string;
  error: string;
  /** The platform no longer accepts free text. */
  isLate?: true;
}

/** The number changed, and maybe the second id. */
export interface MovedEvent {
  kind: 'moved';
  from: string;
  to: Omit<InboundSender, 'name'>;
}

export type Inbound =
  | ChatEvent
  | UndeliveredEvent
  | MovedEvent
  | { kind: 'challenge'; reply: object }
  /** `reason`: why a message of a person cannot be read. */
  | { kind: 'ignored'; reason?: string };

/** Untrusted: nothing in it becomes a mention, a command or a link with a hidden URL. */
export interface ChannelMessage {
  /** One line of plain text. */
  title: string | null;
  text: string;
  /** Delivered with high priority. */
  isUrgent?: true;
  isMarkdown?: boolean;
  /** A pending call, with buttons on the last part if supported. */
  question?: PlatformQuestion;
}

export interface PlatformQuestion {
  approvalId: string;
  digest: string;
  /** Additional buttons, if there is room. */
  grantScopes?: readonly ButtonScope[];
}

/** Without the recipient. */
export type PlatformBody = Readonly<Record<string, unknown>>;

export type PlatformSent = { status?: number; excerpt?: string } & (
  | { verdict: 'sent'; receipt: string | null }
  /** Nothing arrived. Retry after at least `afterMs`. */
  | { verdict: 'retry'; error: string; afterMs?: number }
  /** `isLate`: the platform no longer accepts free text. */
  | { verdict: 'failed'; error: string; isLate?: true }
  /** The reply was lost; the message may have arrived. */
  | { verdict: 'unknown'; error: string }
);

export type PlatformRefusal = Exclude<PlatformSent, { verdict: 'sent' }>;

export type PlatformCheck = { ok: true; account: string } | { ok: false; error: string };
export interface PlatformFile {
  /** null if it has none, or the platform reports it later. */
  name: string | null;
  /** null: not known. */
  bytes: number | null;
  isVoice?: true;
  /** Adapter data to find the file. Contains no secret. */
  ref: string;
}

export interface FilePlace {
  verdict: 'found';
  url: string;
  headers?: Record<string, string>;
  name: string | null;
  bytes?: unknown;
  isVoice?: true;
}

export interface PlatformFiles {
  /** Hosts besides the base URL that may receive its secrets over HTTPS. */
  hosts: readonly string[];
  /** Failures are verdicts. */
  find(reach: PlatformReach, file: PlatformFile): Promise<FilePlace | PlatformRefusal>;
}
