import type { FieldFault } from '../../kernel/problem.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Store } from '../../store/store.js';
import { decidableBy } from '../../store/visible.js';
import { fieldsIn, inputFaults, type StageField } from './inputs.js';
import { asRecord } from './render.js';
import type { RunService, StageAnswer } from './service.js';

export interface StageQuestion {
  ownerId: string;
  /** Slug, if an organization owns the run. */
  org: string | null;
  runId: string;
  run: string;
  key: string;
  asks: 'approval' | 'input';
  /** Message or pending call, and the fields of a form. */
  input: Record<string, unknown>;
  fields: StageField[];
  digest: string;
  untrusted: boolean;
  expiresAt: string | null;
}

interface StagePlace {
  runId: string;
  key: string;
}

export interface StageQuestions {
  /** Of the user, or of an organization in which the user is an owner or admin. */
  at(userId: string, place: StagePlace): Promise<StageQuestion | null>;
  /** Returns at most two questions by the beginning of their digest. */
  withDigest(userId: string, begin: string, runId?: string): Promise<StageQuestion[]>;
  count(userId: string): Promise<number>;
  faults(question: StageQuestion, values: Record<string, unknown>): FieldFault[];
  /** `steps` are written in the same transaction. Throws the errors of `service.answer`. */
  answer(
    place: StagePlace & Pick<StageQuestion, 'ownerId'>,
    answered: { answer: StageAnswer; steps: TransactionStep[] },
  ): Promise<void>;
}

const WAITING = ['waiting_approval', 'waiting_input'] as const;
const HEX = /^[0-9a-f]+$/;

export const createStageQuestions = (
  { db }: Pick<Store, 'db'>,
  service: Pick<RunService, 'answer'>,
): StageQuestions => {
  const own = (userId: string) =>
    db
      .selectFrom('pipeline_runs as r')
      .innerJoin('pipeline_stages as s', 's.run_id', 'r.id')
      .where(decidableBy(userId, 'r'))
      .where('r.status', 'in', ['running', 'waiting'])
      .where('s.status', 'in', WAITING);
  const questions = (userId: string) =>
    own(userId)
      .select((of) =>
        of.selectFrom('orgs').select('slug').whereRef('orgs.id', '=', 'r.user_id').as('org'),
      )
      .select([
        'r.user_id as ownerId',
        'r.id as runId',
        'r.name as run',
        's.key',
        's.status',
        's.input',
        's.digest',
        's.untrusted',
        's.due_at as expiresAt',
      ]);
  type Found = Awaited<ReturnType<ReturnType<typeof questions>['execute']>>[number];
  const questionOf = ({ status, input: text, digest, untrusted, ...of }: Found): StageQuestion => {
    const input = asRecord(JSON.parse(text ?? '{}'));
    const asks = status === 'waiting_input' ? 'input' : 'approval';
    const fields = asks === 'input' ? fieldsIn(input) : [];
    return { ...of, asks, input, fields, digest: digest ?? '', untrusted: untrusted === 1 };
  };

  return {
    at: async (userId, { runId, key }) => {
      const one = questions(userId).where('r.id', '=', runId).where('s.key', '=', key);
      const found = await one.executeTakeFirst();
      return found ? questionOf(found) : null;
    },

    withDigest: async (userId, begin, runId) => {
      if (!HEX.test(begin)) return [];
      const all = questions(userId).where('s.digest', 'like', `${begin}%`).limit(2);
      const found = runId === undefined ? all : all.where('r.id', '=', runId);
      return (await found.execute()).map(questionOf);
    },

    count: async (userId) => {
      const counted = own(userId).select((of) => of.fn.countAll<number>().as('count'));
      return (await counted.executeTakeFirst())?.count ?? 0;
    },

    faults: ({ input }, values) => inputFaults(input, values),

    answer: async ({ ownerId, runId, key }, answered) => {
      await service.answer(ownerId, runId, { key, ...answered });
    },
  };
};
