import type { RunTask } from '../../kernel/pool.js';
import type { PlatformBody } from '../../providers/chat/platform.js';
import { replyPlatform } from '../../providers/replies/platforms.js';
import type { ReplyPreset } from './contract.js';

export interface RenderedReply {
  preset: ReplyPreset;
  markdown: string;
  /** Follows a text that was cut. */
  ifCut: string;
}

const renderReply = ({ preset, markdown, ifCut }: RenderedReply): PlatformBody =>
  replyPlatform(preset)?.render(markdown, ifCut) ?? { text: markdown };

export const replyTasks = { replyText: renderReply };

/** Characters rendered on the event loop. Hostile Markdown of 100,000 takes a second. */
const MAX_INLINE_LENGTH = 2_000;

/** Long texts are rendered in a worker thread. Throws PoolFull and ThreadTerminated. */
export const createReplyRenderer =
  (apart: RunTask<typeof replyTasks>, linkOf: (executionId: string) => string | null) =>
  async (
    userId: string,
    { preset, text, executionId }: { preset: ReplyPreset; text: string; executionId: string },
  ): Promise<PlatformBody> => {
    const link = linkOf(executionId);
    const where = link ?? `execution ${executionId} in Adjutant`;
    const of = { preset, markdown: text, ifCut: `The text is longer. The whole text: ${where}` };
    return text.length > MAX_INLINE_LENGTH ? apart(userId, 'replyText', of) : renderReply(of);
  };

export type RenderReply = ReturnType<typeof createReplyRenderer>;
