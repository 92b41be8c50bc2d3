import type { Acts } from '../../page.js';
import { type Act, actTarget, confirmationText, reportDone } from '../../state/act.js';

/** Draft ids of an unsent note and question. */
const NOTE = 'note';
const QUESTION = 'question';

/** A word quoted for a POSIX shell. */
export const quotedWord = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

export const askAct = (): Act => ({
  ...actTarget('answers', QUESTION),
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
  ...actTarget('entries', NOTE),
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

export const knowledgeActs = (): Acts => ({ message: askAct(), add: noteAct() });

export const deleteEntry = (rowId: string, { id, title }: { id: string; title: string }): Act => ({
  ...actTarget('entries', rowId, 'found'),
  isFree: true,
  text: `Delete entry ${title}`,
  line: `adjutant knowledge delete ${id}`,
  doing: 'deleting…',
  ask: {
    lines: [`Delete ${title} and its text? There is no undo.`],
    name: confirmationText(title, id),
  },
  call: ({ knowledge }) => reportDone(knowledge.delete({ id }), `${title} is deleted`),
});
