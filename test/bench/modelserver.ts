import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type ChatRequest, says } from '../harness/openai.js';

/**
 * An OpenAI-compatible server in a process of its own: it asks for the time once in each step, and
 * answers with text in the step with the number in its argument. It prints its base URL.
 */
const steps = Number(process.argv[2]);

const server = createServer(async (request, response) => {
  const body = (await json(request)) as ChatRequest;
  const taken = body.messages.filter(({ role }) => role === 'tool').length;
  const usage = { input: 100, output: 10 };
  const said =
    taken === steps - 1 ? { text: 'Done.', usage } : { toolCalls: [timeCall(taken)], usage };
  says(said)(response, body);
});

const ZONES = Intl.supportedValuesOf('timeZone');

/** Builds a call with arguments of its own, because an agent that repeats a call is stopped. */
const timeCall = (number: number) => ({
  id: `call${number}`,
  name: 'time_now',
  arguments: JSON.stringify({ timezone: ZONES[number] }),
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}/v1` });
});
process.on('disconnect', () => process.exit());
