import type { Acts } from '../../page.js';
import { type Act, confirmedBy, done, onRow } from '../../state/act.js';

/** The ids under which a note and a question that were not sent are kept. */
const NOTE = 'note';
const QUESTION = 'question';

/** Returns a word for a POSIX shell, quoted. */
export const quotedWord = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Returns the act that asks a question; a page of its own shows the answer. */
export const askAct = (): Act => ({
  ...onRow('answers', QUESTION),
  touches: [],
  isFree: true,
  text: 'Ask your knowledge a question',
  line: 'adjutant knowledge ask …',
  doing: 'asking…',
  ask: { lines: ['Ask a question. A model answers with quotes from your knowledge'], writes: true },
  call: async (_client, question) => ({
    message: '',
    opens: { page: 'answer', id: question.trim() },
  }),
});

const noteAct = (): Act => ({
  ...onRow('entries', NOTE),
  isFree: true,
  text: 'Add a note',
  line: 'adjutant knowledge create …',
  doing: 'saving…',
  ask: { lines: ['New note. The first line is the title'], writes: true },
  call: async ({ knowledge }, text) => {
    const { title } = await knowledge.create({ body: { text } });
    return `Saved: ${title}`;
  },
});

/** Returns the acts that need no row. */
export const knowledgeActs = (): Acts => ({ message: askAct(), add: noteAct() });

/** Returns the act that deletes an entry; `rowId` is the row in which that is shown. */
export const deleteEntry = (rowId: string, { id, title }: { id: string; title: string }): Act => ({
  ...onRow('entries', rowId, 'found'),
  isFree: true,
  text: `Delete entry ${title}`,
  line: `adjutant knowledge delete ${id}`,
  doing: 'deleting…',
  ask: {
    lines: [`Delete ${title} and its text? There is no undo.`],
    name: confirmedBy(title, id),
  },
  call: ({ knowledge }) => done(knowledge.delete({ id }), `${title} is deleted`),
});
