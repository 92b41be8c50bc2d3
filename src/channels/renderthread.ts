import { parentPort, workerData } from 'node:worker_threads';
import { outboundPlatforms } from '../providers/chat/platforms.js';
import type { RenderInput } from './renderinthread.js';

/** Worker thread: renders one message and ends. */
const { kind, message }: RenderInput = workerData;
const platform = outboundPlatforms.find((each) => each.kind === kind);
if (!platform) throw new Error(`No platform renders messages of kind ${kind}`);
parentPort?.postMessage(platform.render(message));
