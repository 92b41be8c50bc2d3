import { textAt } from '../kernel/jsonvalue.js';
import { isOwnReply, type ReplyTarget } from '../providers/replies/platform.js';
import { replyPlatform, replyPlatforms } from '../providers/replies/platforms.js';
import { type HookRun, templateScope } from './run.js';
import { renderAddress } from './template.js';

export type FoundTarget = ReplyTarget | { fault: string };

/** Only from the verified delivery and the settings of the owner, never from the text of a model. */
export const findReplyTarget = (run: HookRun): FoundTarget => {
  const { reply } = run.hook.actionConfig;
  if (!reply) return { fault: 'The hook has no reply' };
  const scope = templateScope(run);
  const platform = replyPlatform(reply.preset);
  if (platform === null) {
    const address = renderAddress(reply.url ?? '', scope);
    if ('fault' in address) return address;
    const { url } = address;
    if (url.length > MAX_URL_LENGTH) return { fault: 'The URL of the reply is too long' };
    return { object: url, place: { url } };
  }
  const body = scope.webhook?.body;
  if (platform.comment(body).isInternal === true) return { fault: INTERNAL };
  const target = platform.target(body);
  const fault = `The delivery has no object that ${platform.name} accepts a reply on`;
  return target ?? { fault };
};

const MAX_URL_LENGTH = 2000;
const INTERNAL = 'The comment is internal, and the reply would be public';

export interface ReplyLoop {
  isOwn: boolean;
  isBot: boolean;
  /** Where the reply would go. null: nowhere. */
  object: string | null;
}

/** What may make two programs answer each other without end. */
export const findReplyLoop = (run: HookRun): ReplyLoop => {
  const { reply } = run.hook.actionConfig;
  const none = { isOwn: false, isBot: false, object: null };
  if (!reply || !run.delivery) return none;
  const own = replyPlatform(reply.preset);
  const { body } = templateScope(run).webhook ?? {};
  const reported = (own ? [own] : Object.values(replyPlatforms)).map(({ comment }) =>
    comment(body),
  );
  const texts = [...reported.map(({ text }) => text), own ? null : textAt(body, 'text')];
  const target = findReplyTarget(run);
  return {
    isOwn: texts.some((text) => text !== null && isOwnReply(text)),
    isBot: reported.some(({ isBot }) => isBot),
    object: 'fault' in target ? null : target.object,
  };
};
