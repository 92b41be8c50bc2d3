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
    return 'fault' in address ? address : { object: address.url, place: { url: address.url } };
  }
  const target = platform.target(scope.webhook?.body);
  const fault = `The delivery has no object that ${platform.name} accepts a reply on`;
  return target ?? { fault };
};

/**
 * The reason not to run: the delivery reports a reply of Adjutant, or a program comments where the
 * hook has already replied. Otherwise two programs could answer each other without end.
 */
export const findReplyLoop = (run: HookRun): { isOwn: boolean; object: string | null } | null => {
  const { reply } = run.hook.actionConfig;
  if (!reply || !run.delivery) return null;
  const platforms =
    reply.preset === 'url' ? Object.values(replyPlatforms) : [replyPlatforms[reply.preset]];
  const { body } = templateScope(run).webhook ?? {};
  for (const platform of platforms) {
    const comment = platform.comment(body);
    if (comment && isOwnReply(comment.text)) return { isOwn: true, object: null };
    if (comment?.isBot) return { isOwn: false, object: platform.target(body)?.object ?? null };
  }
  return null;
};
