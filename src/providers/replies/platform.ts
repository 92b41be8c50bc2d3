import type { PlatformCallReply, RefusalIn } from '../chat/call.js';
import type { PlatformBody } from '../chat/platform.js';

/** Object of a verified delivery that the reply goes to. */
export interface ReplyTarget {
  /** Equal for all events of the object, and readable, such as `octo/hello#7`. */
  object: string;
  /** Values for the calls, each with a checked form. */
  place: Readonly<Record<string, string>>;
}

/** Comment or message that a delivery reports, and who caused it. */
export interface ReportedComment {
  /** null if the delivery reports no comment. */
  text: string | null;
  /** Whether the platform says that a program caused the delivery. */
  isBot: boolean;
  /** Whether not everybody who sees the object may see the comment. */
  isInternal?: boolean;
}

export interface PostedReply {
  /** With it, the platform changes the reply. */
  id: string;
  url: string | null;
}

export interface ReplyCall {
  method: 'POST' | 'PUT' | 'PATCH';
  /** Below the address of the API. */
  path: string;
  body: PlatformBody;
}

export interface ReplyPlatform {
  /** Shown to users. */
  name: string;
  /** Address of the API of the public service; null if every user has a server of their own. */
  service: string | null;
  /** Path of the API below the address of a server. */
  apiPath: string;
  headers(token: string): Record<string, string>;
  /** null if the delivery has no object that accepts a reply. `body` is untrusted in its form. */
  target(body: unknown): ReplyTarget | null;
  comment(body: unknown): ReportedComment;
  /** Text in the format and the limits of the platform, in which nothing is a mention or a command. */
  render(markdown: string, ifCut: string): PlatformBody;
  create(target: ReplyTarget, text: PlatformBody): ReplyCall;
  update(target: ReplyTarget, id: string, text: PlatformBody): ReplyCall;
  posted(reply: PlatformCallReply, target: ReplyTarget, server: string): PostedReply;
  refusalIn?: RefusalIn;
}

/**
 * U+2063 and U+2064, which no platform shows. They end each reply, so that its own delivery is
 * recognized. A person who quotes a reply continues after it.
 */
export const REPLY_MARK = '\u2063\u2064\u2063\u2064';

export const isOwnReply = (text: string): boolean => text.trimEnd().endsWith(REPLY_MARK);
