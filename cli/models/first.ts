import { ApiError, Unreachable } from '../../src/client/errors.js';
import type { Client, ModelFit } from '../../src/client/index.js';
import { speedText } from '../capabilities/machine.js';
import { installAndAsk } from '../capabilities/recommend.js';
import type { Context } from '../command.js';
import { keyFrom } from '../commands/models.js';
import { CliFault } from '../exit.js';
import { sizeText } from '../operations/counts.js';
import { duration, oneLine, safe } from '../text.js';

type FirstModel = NonNullable<Parameters<Client['models']['create']>[0]>['body'];

interface Offer {
  label: string;
  body: FirstModel;
}

/** Providers that require an API key. The first known model of each is the default. */
const SELLERS = ['anthropic', 'openai', 'google', 'openrouter'] as const;
/** Maximum number of models offered per server. */
const MAX_OF_SERVER = 3;
/** Maximum time to inspect the machine, in milliseconds. */
const FIT_MS = 20_000;
const INSTEAD = 'adjutant models create';

/** Models on this machine: those of Ollama, and tools that are logged in. Failures are ignored. */
export const modelOffers = async (client: Client): Promise<Offer[]> => {
  const [ollama, tools] = await Promise.all([
    client.providers.ollama({ query: {} }).then(
      ({ models }) =>
        models.slice(0, MAX_OF_SERVER).map(({ modelId }) => createOllamaOffer(modelId)),
      () => [],
    ),
    client.clitools.status().then(
      (reply) => reply.tools.filter(({ available, loggedIn }) => available && loggedIn),
      () => [],
    ),
  ]);
  return [...ollama, ...tools.map(({ name }) => createCliOffer(name))];
};

const createOllamaOffer = (modelId: string): Offer => ({
  label: `ollama/${oneLine(modelId)}`,
  body: { name: `ollama/${modelId}`, provider: 'ollama', modelId },
});
const createCliOffer = (name: string): Offer => ({
  label: `the ${name} CLI`,
  body: { name, provider: 'cli', modelId: name },
});

/**
 * Lets the user choose an offer or a model by API key, makes it the default and tests it. Enter
 * alone takes the first offer, or else the model that fits this machine, or else leaves the
 * choice for later. `--yes` takes the first offer without a question and installs nothing.
 */
export const chooseFirstModel = async (context: Context, offers: Offer[]): Promise<void> => {
  const { ask, flags } = context;
  if (flags.yes) return takeFirst(context, offers[0]);
  const fitting = await fittingModel(context);
  const local = fitting
    ? [`install ${oneLine(fitting.name)} here: ${formatFitFacts(fitting)}`]
    : [];
  const labels = [...offers.map(({ label }) => label), ...local];
  const choices = [...labels, 'one by API key', 'later'];
  const initial = String(labels.length > 0 ? 1 : choices.length);
  const at = await ask.choose({ ask: '    Use', choices, initial, instead: INSTEAD });
  if (at === choices.length - 1) return suggestModels(context);
  if (fitting && at === offers.length) return installFitting(context, fitting);
  return registerAndTry(context, offers[at]?.body ?? (await byKey(context)));
};

const takeFirst = async (context: Context, offer: Offer | undefined): Promise<void> =>
  offer ? registerAndTry(context, offer.body) : suggestModels(context);

export const suggestModels = ({ out }: Context): void => {
  out.note('    Install one that fits this machine, or add one of Ollama or of a provider:');
  out.note('    adjutant models recommend --install');
  out.note('    adjutant models create qwen --provider ollama --model-id qwen3');
  out.note('    adjutant models create claude --provider anthropic --model-id claude-sonnet-4-5');
};

const registerAndTry = async (context: Context, body: FirstModel): Promise<void> => {
  const client = await context.client();
  const { name } = await client.models.create({ body });
  await client.models.default({ name });
  const { ok, latencyMs, error } = await client.models.check({ name });
  context.out.note(
    ok
      ? `    Tested in ${duration(latencyMs)}: it replied`
      : `    It does not reply: ${safe(error ?? '')}\n    Fix it: adjutant models update ` +
          `${safe(name)}   then: adjutant models test ${safe(name)}`,
  );
};

/** `2.3 GiB, ~12 tok/s, Apache License 2.0` */
const formatFitFacts = (fit: ModelFit): string => {
  const { weightsBytes, licence } = fit;
  const facts = [sizeText(weightsBytes), speedText(fit), oneLine(licence ?? 'licence unknown')];
  return facts.filter((fact) => fact !== '').join(', ');
};

/** The best model for this machine, or null if none fits or that is unknown. */
const fittingModel = async (context: Context): Promise<ModelFit | null> => {
  try {
    const client = (await context.client()).with({ timeoutMs: FIT_MS });
    const { fit } = await client.capabilities.hardware({ query: { useCase: 'chat' } });
    return fit.find(({ recommended, installed }) => recommended && !installed) ?? null;
  } catch (error) {
    if (error instanceof ApiError || error instanceof Unreachable) return null;
    throw error;
  }
};

/** Installs the model. If that fails, the other steps continue without it. */
const installFitting = async (context: Context, fitting: ModelFit): Promise<void> => {
  context.out.note(`    ${oneLine(fitting.why)}`);
  try {
    await installAndAsk(context, fitting, { useCase: 'chat', isAgreed: false });
  } catch (error) {
    if (context.signal.aborted || !(error instanceof CliFault)) throw error;
    context.out.note(
      `    ${error.message}\n    Try again later: adjutant models recommend --install`,
    );
  }
};

const byKey = async (context: Context): Promise<FirstModel> => {
  const { ask } = context;
  const choices = [...SELLERS];
  const provider =
    choices[await ask.choose({ ask: '    Provider', choices, instead: INSTEAD })] ?? 'openai';
  const { models } = await (await context.client()).providers.known({ provider });
  const modelId = await ask.text({
    ask: '    Model name at the provider',
    initial: models[0]?.modelId,
    instead: INSTEAD,
    refuse: (input) => (input === '' ? 'Enter a name, as in its documentation.' : undefined),
  });
  const apiKey = await keyFrom(context, undefined);
  return { name: `${provider}/${modelId}`, provider, modelId, apiKey };
};
