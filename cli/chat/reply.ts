import { followEvents, type ServerEvent } from '../../src/client/events.js';
import type { ChatAnswer, Client } from '../../src/client/index.js';
import { valueAt } from '../columns.js';
import type { Context } from '../context.js';
import { interrupted } from '../exit.js';
import { oneLine, plainText, safe } from '../text.js';

/** One message of a conversation. */
export interface ChatFlags {
  message: string;
  sessionId?: string;
  model?: string;
  topic?: string;
  expertId?: string;
}

/**
 * Says it, shows what comes of it, and resolves to the answer. ^C stops the agent: whoever has gone
 * does not pay for an answer that nobody reads.
 */
export const answerTo = async (
  context: Context,
  said: ChatFlags,
  isStreamed: boolean,
): Promise<ChatAnswer> => {
  const printer = printerOf(context, isStreamed);
  let answer: ChatAnswer | undefined;
  try {
    for await (const told of eventsOf(context, said)) {
      if (isAnswer(told.data)) answer = told.data;
      printer.tell(told);
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw await stopped(context, answer);
  }
  if (!answer) throw new Error('The stream ended without an answer');
  return answer;
};

const eventsOf = ({ url, token, signal, out }: Context, said: ChatFlags) =>
  followEvents(
    { url, token, signal },
    {
      path: '/api/chat',
      body: said,
      last: 'done',
      resumeAt: (first) => (isAnswer(first) ? `/api/chat/${first.agentId}` : null),
      lost: (reason) => out.note(`-- ${reason}, trying --`),
    },
  );

const stopped = async (context: Context, answer: ChatAnswer | undefined) => {
  if (!answer) return interrupted();
  const client: Client = (await context.client()).with({ signal: undefined });
  const { agentId: id, sessionId } = answer;
  try {
    await client.agents.stop({ id });
    return interrupted(`Stopped. Go on: adjutant chat --session ${sessionId.slice(-6)}`);
  } catch {
    return interrupted(`Whether it stopped is not known: adjutant agents get ${id.slice(-6)}`);
  }
};

const isAnswer = (data: unknown): data is ChatAnswer =>
  typeof data === 'object' && data !== null && 'sessionId' in data && 'agentId' in data;

/** Text as it is written, and on stderr what the agent does meanwhile. */
const printerOf = ({ out }: Context, isStreamed: boolean) => {
  let written = '';
  const tellMessage = (content: string): void => {
    if (!isStreamed) return;
    // Another model may have begun the answer anew: what counts is what was said in the end.
    const isAsWritten = content.trim() === written.trim();
    if (!isAsWritten) out.piece(`${written === '' ? '' : '\n'}${safe(content)}`);
    if (content !== '' || written !== '') out.piece('\n');
    written = '';
  };
  const tellPiece = (text: string): void => {
    if (!isStreamed) return;
    written += text;
    out.piece(safe(text));
  };
  return {
    tell: ({ event, data }: ServerEvent): void => {
      const of = (path: string) => plainText(valueAt(data, path));
      if (out.format === 'json') {
        if (isStreamed) out.json({ event, data });
      } else if (event === 'agent.message') tellMessage(of('data.content'));
      else if (event === 'agent.tool_call') for (const line of callNotes(of)) out.note(line);
      else if (event === 'delta') tellPiece(of('text'));
    },
  };
};

const callNotes = (of: (path: string) => string): string[] => {
  const call = oneLine(`${of('data.tool')}  ${of('data.arguments')}`).slice(0, 300);
  if (of('data.phase') === 'call') return [`-- ${call} --`];
  if (of('data.phase') !== 'approval' || of('data.status') !== 'pending') return [];
  const short = of('data.digest').slice(0, 8);
  return [
    `-- it waits for your word: ${call} --`,
    `   read and answer it in another terminal: adjutant approvals approve ${short}`,
  ];
};
