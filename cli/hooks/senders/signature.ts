import {
  type Hook,
  loadSenders,
  type PresetName,
  type SignatureRecipe,
} from '../../../src/client/index.js';
import type { HookSender } from './form.js';

const { PRESETS, createSignatureRecipe } = await loadSenders();

export interface ResolvedSignature {
  recipe: SignatureRecipe;
  /** The preset, for messages. */
  name: string;
  /** Whether the hook expects another sender. */
  isOther: boolean;
  isIncoming: boolean;
}

interface SignatureInput {
  hook: Hook;
  secret: string;
  /** The preset from --as. */
  named?: PresetName;
  /** The sender of the sample. */
  sample?: HookSender;
  /** Whether the secret is sent in a header to the other receiver. */
  incoming?: boolean;
}

/** The requested preset, or that of the hook, or one that the receiver recognizes. */
export const resolveSignature = ({
  hook,
  secret,
  named,
  sample,
  incoming = false,
}: SignatureInput): ResolvedSignature => {
  const { verify } = hook.triggerConfig;
  const own = named ?? verify;
  const recipe = own === undefined ? unnamedRecipe(sample, secret) : createSignatureRecipe(own);
  const isIncoming = incoming || (verify === undefined && isToken(recipe));
  const shown = incoming && !isToken(recipe) ? { ...recipe, ...SECRET_HEADER } : recipe;
  const isOther = named !== undefined && named !== verify;
  return { recipe: shown, name: named ?? 'github', isOther, isIncoming };
};

/** Whether the secret itself is sent. */
export const isToken = ({ algorithm }: SignatureRecipe): boolean =>
  algorithm === 'token' || algorithm === 'basic';

const SECRET_HEADER = {
  header: 'x-webhook-secret',
  algorithm: 'token',
  prefix: '',
  format: 'plain',
  signed: undefined,
  timestampHeader: undefined,
} as const;

const SIGNING_TOKEN = 'whsec_';

/**
 * The signature of a sample for a hook without `verify`, whose receiver recognizes those of
 * GitHub, Stripe and Standard Webhooks. GitLab sends its secret, unless that is a signing token.
 */
const unnamedRecipe = (sample: HookSender = 'github', secret: string): SignatureRecipe => {
  if (sample === 'stripe') return PRESETS.stripe;
  const own = sample === 'other' ? PRESETS.github : createSignatureRecipe(sample);
  const isStandard = sample === 'gitlab' && secret.startsWith(SIGNING_TOKEN);
  if (sample === 'gitlab' && !isStandard) return own;
  if (isStandard) return { ...PRESETS['standard-webhooks'], eventFrom: own.eventFrom };
  return { ...PRESETS.github, idFrom: own.idFrom, eventFrom: own.eventFrom };
};
