import { createTurns } from '../kernel/fairqueue.js';
import { inThread } from '../kernel/threadtask.js';
import type { ChannelMessage, OutboundPlatform, PlatformBody } from '../providers/chat/platform.js';

/** The input of the thread: the message, and the kind of the platform that renders it. */
export interface RenderInput {
  kind: OutboundPlatform['kind'];
  message: ChannelMessage;
}

/** Ours: the most characters that are rendered on the event loop; the worst take some 30 ms. */
const MAX_HERE = 2_000;
/** Ours: one thread at once. Messages are sent one by one in any case. */
const threads = createTurns({ atOnce: 1, waiting: Number.POSITIVE_INFINITY });
/** The worst text of 100,000 characters takes a second. */
const LIMIT_MS = 30_000;
const FILE = new URL('./renderthread.js', import.meta.url);

/**
 * Renders a message as its platform does, a long one in a separate thread: Markdown that an
 * adversary wrote may take a second. Fails if the thread fails.
 */
export const renderApart = async (
  platform: OutboundPlatform,
  message: ChannelMessage,
): Promise<PlatformBody[]> => {
  if (message.text.length <= MAX_HERE) return platform.render(message);
  const input: RenderInput = { kind: platform.kind, message };
  const failure = 'Could not render a message';
  return threads.take(platform.kind, () =>
    inThread<PlatformBody[]>({ file: FILE, input, limitMs: LIMIT_MS, failure }),
  );
};
