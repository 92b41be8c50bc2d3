import type { Http } from '../../kernel/http.js';
import type { Headers } from '../../kernel/signature.js';
import type { ButtonScope } from './buttonscopes.js';
import type { PlatformFile, PlatformFiles } from './file.js';

/**
 * The adapter of one platform, as far as messages are sent there. It is pure except for `send`,
 * `check` and `install`. It stores nothing, knows no users, and gets the time from its caller.
 * `platforms.ts` lists the adapters.
 */
export interface OutboundPlatform {
  kind: PlatformKind;
  /** The endpoint that receives the platform's requests. Without it nothing comes from there. */
  endpoint?: 'teamchat' | 'messenger';
  /** The address of the real service, without a trailing slash. An admin may set another. */
  baseUrl: string;
  /** The settings for an admin. */
  fields: readonly PlatformField[];
  /**
   * Returns the steps for the admin at the platform, one in each line. `receiver` is the address
   * that receives the platform's requests.
   */
  setup(receiver: string): string[];

  /**
   * Returns the messages for the text, each within the platform's limits. Nothing in the text is
   * treated as markup.
   */
  render(message: ChannelMessage): PlatformBody[];
  /**
   * The time in ms after a person's last message in which the platform accepts free text; always if
   * it is left out.
   */
  freeTextMs?: number;
  /** Returns what renders the message after that time; null if the settings have nothing for it. */
  late?(settings: PlatformSettings): ((message: ChannelMessage) => PlatformBody) | null;
  /** Sends one message, once. Throws only if `signal` is aborted. */
  send(reach: PlatformReach, to: string, part: PlatformBody): Promise<PlatformSent>;
  /** Tests the settings: returns the account's name, or the error. */
  check(reach: PlatformReach): Promise<PlatformCheck>;
  /** Registers the address for the platform's requests, if the platform has an API for that. */
  install?(reach: PlatformReach): Promise<PlatformCheck>;
}

/** The adapter of a platform where people write, too. It verifies what arrives from there. */
export interface Platform extends OutboundPlatform {
  endpoint: 'teamchat' | 'messenger';
  /** True if the request's headers say that it is from this platform. This proves nothing. */
  claims(headers: Headers): boolean;
  /**
   * True if the platform sent exactly this request. False if the secret is not set. `now` is in ms.
   */
  verify(request: InboundRequest, settings: PlatformSettings, now: number): boolean;
  /** Parses a verified request, which may hold several events. Unreadable content is ignored. */
  parse(request: InboundRequest, settings: PlatformSettings): Inbound[];
  /** Returns the reply to a GET that proves that the endpoint is ours; null if it is refused. */
  handshake?(query: Record<string, unknown>, settings: PlatformSettings): string | null;
  /**
   * Returns the body that replies to the platform's own request with this text; null if the
   * platform allows no such reply. `isOver` is true if the question with the button is decided.
   */
  reply(event: ChatEvent, text: string, isOver?: boolean): object | null;
  /**
   * Sends a reply to the place of an event, for its sender alone; null if the event has no place but the
   * chat with its sender. Failures are verdicts.
   */
  replyAt?(
    reach: PlatformReach,
    event: ChatEvent,
    part: PlatformBody,
  ): Promise<PlatformSent> | null;
  /**
   * Returns the body for a reply that follows later, if the platform counts an empty reply as a
   * failure.
   */
  taken?(): object;
  /** The way of a reply that takes longer than the platform waits for it. */
  deferral?: PlatformDeferral;
  /** The way in which the files of messages are fetched. Without it a message has none. */
  files?: PlatformFiles;
  /** Removes the buttons of a decided question and shows the outcome. Failures are verdicts. */
  conclude?(reach: PlatformReach, event: ButtonEvent, text: string): Promise<PlatformSent>;
}

/** The way in which a platform takes the reply to its request later, in a request of the daemon. */
export interface PlatformDeferral {
  /** The time in ms after which the reply is deferred. */
  afterMs: number;
  /** Returns the body that announces it. */
  reply(event: ChatEvent): object;
  /** Sends it, once. null: nothing is to be said. Failures are verdicts. */
  finish(
    reach: PlatformReach,
    event: ChatEvent,
    outcome: { text: string; isOver: boolean } | null,
  ): Promise<PlatformSent>;
}

/** The channel kinds that have an adapter. */
export type PlatformKind =
  | 'slack'
  | 'teams'
  | 'mattermost'
  | 'discord'
  | 'telegram'
  | 'whatsapp'
  | 'ntfy'
  | 'email';

/** One setting for an admin, by its name in the API. */
export interface PlatformField {
  name: string;
  /** A description of where to find the value at the platform. */
  doc: string;
  /** True if the value is sealed and never shown again. */
  isSecret: boolean;
  /** Set if it says where the secrets go: another place needs them again. */
  isPlace?: true;
  /** The required form, and its description: `must be …`. */
  form?: { pattern: RegExp; fault: string };
  /**
   * The uses that need it. Without it nothing is sent (`send`), or the endpoint stays closed
   * (`receive`). A field that no use needs is optional.
   */
  neededTo?: readonly ('send' | 'receive')[];
}

export interface PlatformSettings {
  /** The base URL, without a trailing slash. */
  baseUrl: string;
  /** The values of `fields` that are set. */
  values: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
}

export interface PlatformReach {
  http: Http;
  settings: PlatformSettings;
  /** The address that receives the platform's requests; empty if it sends none. */
  receiver: string;
  /** The number of times that the cause of the message has come back to this daemon. */
  hops?: number;
  signal: AbortSignal;
}

export interface InboundRequest {
  headers: Headers;
  body: Buffer;
}

/** The sender as the platform proved it: an ID that is never reused, and a name to show. */
export interface InboundSender {
  id: string;
  /** A second ID of the same person, which may be the only one in another event. */
  otherId?: string | undefined;
  name: string;
}

interface Event {
  sender: InboundSender;
  /** The event's ID, unique on the platform and the same in all its retries. */
  eventId: string;
  /** The adapter's data for a reply to this event. */
  replyTo: string | null;
}
export interface MessageEvent extends Event {
  kind: 'message';
  /** The text; a slash command has the form `/link K7MPXA`. */
  text: string;
  /** Set if somebody else wrote the text and the sender forwarded it. */
  isForwarded?: true;
  /** Set if other people can read the reply, too. */
  isOverheard?: true;
  /** Set if the sender sent a picture, a recording or a file without words: the text is empty. */
  isWordless?: true;
  /** The files that came with it, at least one. */
  files?: PlatformFile[];
  /** Set if the app has cut a longer text off here: the next message goes on within it. */
  isCut?: true;
  /** The message that it replies to. */
  quoted?: QuotedMessage;
  /** Set if it was written where the answer does not come, among messages that are not read. */
  isApart?: true;
}
/** A message that a person points at. */
export interface QuotedMessage {
  /** The words; empty if the platform tells its ID alone. */
  text: string;
  /** The writer: the daemon, the person, or somebody else; absent if the platform does not tell. */
  by?: 'daemon' | 'sender' | 'other';
  /** The receipt of the message, if the daemon may have sent it. */
  receipt?: string;
}
/** A pressed button. Of the digest it has as many of the first digits as the platform keeps. */
export interface ButtonEvent extends Event, Pick<PlatformQuestion, 'approvalId' | 'digest'> {
  kind: 'button';
  approved: boolean;
  /** The scope in which an approval is to stand; once if absent. */
  scope?: ButtonScope | undefined;
}
export type ChatEvent = MessageEvent | ButtonEvent;
/** A message that the platform accepted and cannot deliver; `to` as in `send`. */
export interface UndeliveredEvent {
  kind: 'undelivered';
  to: string;
  receipt: string;
  error: string;
  /** Set if the platform accepts no free text there any more. */
  isLate?: true;
}
/** A person has another number, and maybe another second ID, from now on. */
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
  /** `reason`: a person wrote it, and why it cannot be read. */
  | { kind: 'ignored'; reason?: string };

/**
 * A message to one channel. It comes from any source, so nothing in it becomes a mention, a command
 * or a link whose address is not shown.
 */
export interface ChannelMessage {
  /** One line of plain text, shown above the text. */
  title: string | null;
  text: string;
  /** Set if it is not to wait until somebody looks. */
  isUrgent?: true;
  /** True if the text is Markdown; else it is plain text. */
  isMarkdown?: boolean;
  /**
   * A call that waits for the owner's decision, shown with buttons on the last part if the platform
   * has buttons.
   */
  question?: PlatformQuestion;
}

export interface PlatformQuestion {
  approvalId: string;
  digest: string;
  /** The scopes in which an approval may stand. Each is a further button, where there is room. */
  grantScopes?: readonly ButtonScope[];
}

/** The body of one request to the platform, without the recipient. */
export type PlatformBody = Readonly<Record<string, unknown>>;

/** The result of one attempt, in the terms of the outbox. */
export type PlatformSent = { status?: number; excerpt?: string } & (
  | { verdict: 'sent'; receipt: string | null }
  /** Nothing arrived. Another attempt may succeed, after at least `afterMs`. */
  | { verdict: 'retry'; error: string; afterMs?: number }
  /** `isLate` is set if the platform accepts no free text there any more. */
  | { verdict: 'failed'; error: string; isLate?: true }
  /** The reply was lost, so the message may have arrived. */
  | { verdict: 'unknown'; error: string }
);

/** An attempt by which the message did not get through, or may not have. */
export type PlatformRefusal = Exclude<PlatformSent, { verdict: 'sent' }>;

export type PlatformCheck = { ok: true; account: string } | { ok: false; error: string };
