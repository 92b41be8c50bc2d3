import type { UserCalls } from '../agents/module.js';
import { digest } from '../providers/llm/digest.js';
import { ModelFailure, type ModelUsage, type Turn } from '../providers/llm/model.js';
import { addNote, type ResearchWork } from './work.js';

export interface JobQuestion {
  turns: Turn[];
  maxOutputTokens: number;
}

const TOPIC = 'research';
const NO_TIME = 'The time limit was reached before a language model was called.';
const NO_MODEL = 'No language model is available. The best matching passages are quoted instead.';
const NO_MODEL_TODAY = 'Your daily limit does not allow a model call.';

/** Calls a model within the limits of a job. Resolves to null if none replies, and adds a note. */
export const askForJob = async (
  userCalls: UserCalls,
  work: ResearchWork,
  question: JobQuestion,
): Promise<{ text: string; model: string } | null> => {
  const { run, usage, deadline } = work;
  if (deadline.aborted) return unavailableNote(work, NO_TIME);
  try {
    const reply = await userCalls.ask(buildModelCall(work, question));
    if (!reply) return unavailableNote(work, NO_MODEL_TODAY);
    if (reply.model === digest.name) {
      return unavailableNote(
        work,
        reply.unanswered === null ? NO_MODEL : `No language model answered: ${reply.unanswered}.`,
      );
    }
    countCall(usage, reply.usage);
    return reply;
  } catch (error) {
    run.signal.throwIfAborted();
    if (deadline.aborted) return unavailableNote(work, NO_TIME);
    if (!(error instanceof ModelFailure)) throw error;
    return unavailableNote(work, `${error.message}.`);
  }
};

const countCall = (usage: ResearchWork['usage'], call: ModelUsage): void => {
  usage.modelCalls++;
  usage.inputTokens += call.inputTokens;
  usage.outputTokens += call.outputTokens;
  usage.costUsd += call.costUsd ?? 0;
};

const buildModelCall = (
  { run, job, limits, usage, deadline }: ResearchWork,
  question: JobQuestion,
) => {
  const { maxCostUsd } = limits;
  return {
    userId: run.userId,
    askedBy: run.id,
    model: job.model,
    topic: TOPIC,
    turns: question.turns,
    maxOutputTokens: question.maxOutputTokens,
    signal: AbortSignal.any([run.signal, deadline]),
    wasted: (call: ModelUsage) => countCall(usage, call),
    ...(maxCostUsd !== null && { maxCostUsd: Math.max(0, maxCostUsd - usage.costUsd) }),
  };
};

const unavailableNote = (work: ResearchWork, note: string): null => {
  addNote(work, note);
  return null;
};

/** Minimum number of characters per token. */
const TOKEN_CHARACTERS = 2;

/** Returns the number of characters of sources that fit into a prompt, with room for the reply. */
export const promptRoom = (
  userCalls: UserCalls,
  { job }: ResearchWork,
  maxOutputTokens: number,
): number => {
  const tokens =
    userCalls.room({ userId: job.user_id, model: job.model, topic: TOPIC }) - maxOutputTokens;
  return Math.max(0, tokens) * TOKEN_CHARACTERS;
};

/** A random word in the headings of sources, so that a page cannot imitate a heading. */
export const sourceMark = ({ job }: ResearchWork): string => job.id.slice(-8);
