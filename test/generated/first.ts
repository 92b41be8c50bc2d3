import { startApp } from '../harness/app.js';
import { watchLoop } from './block.js';
import { type First, firsts } from './firsts.js';

/** Prints the longest turn of the event loop during one of the first requests: `first.js mcp`. */
const measure = async (name: string, { open, ask, status }: First): Promise<void> => {
  const app = await startApp({ checkedReplies: 0 });
  const other = await open?.();
  try {
    // Passkeys belong to a name.
    app.url = app.url.replace('127.0.0.1', 'localhost');
    await app.call('GET', '/health');
    const token = name === 'register' ? '' : (await app.register('ada')).token;
    const loop = watchLoop();
    const reply = await ask(app, token, other?.url ?? '');
    const longest = loop.stop();
    if (reply.status !== status) throw new Error(`${name}: ${reply.status} ${reply.text}`);
    console.log(JSON.stringify(longest));
  } finally {
    await other?.close();
    await app.stop();
  }
};

const [, , name = ''] = process.argv;
const first = firsts[name];
if (!first) throw new Error(`One of ${Object.keys(firsts).join(', ')}`);
await measure(name, first);
