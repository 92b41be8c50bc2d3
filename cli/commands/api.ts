import { command, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { readFileOrStdin } from '../input.js';
import { safe } from '../text.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const api = command({
  name: 'api',
  args: '<method> <path>',
  values: { method: METHODS },
  summary: 'Send a request to the API',
  examples: [
    'GET /api/hooks',
    `POST /api/agents --data '{"prompt":"Say hello"}'`,
    'PUT /api/hooks/hook_01j9… --data @hook.json',
  ],
  flags: { data: textFlag('<json|@file|->', 'Request body, as JSON') },
  notes: ['The reply is printed unchanged. API reference: /swagger in a browser.'],
  seeAlso: 'adjutant help scripting',
  run: async (context, { args, flags }) => {
    const method = args.method.toUpperCase();
    if (!METHODS.includes(method)) throw usageFault(`Method must be one of ${METHODS.join(', ')}.`);
    if (!args.path.startsWith('/'))
      throw usageFault('Path must begin with a slash, like /api/hooks');
    const { data } = flags;
    const isFile = data?.startsWith('@') || data === '-';
    const body = data && isFile ? await readFileOrStdin(context, data.replace(/^@/, '')) : data;
    const client = await context.client();
    const request = {
      method,
      path: args.path,
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
      isRepeatable: method === 'GET',
    };
    const reply = await client.request(request);
    if (typeof reply.body === 'string') context.out.line(safe(reply.body.trimEnd()));
    else if (reply.body !== undefined) context.out.json(reply.body);
  },
});
