/** 2026-11-20T14:03:19Z, in the seconds that Stripe counts. */
const CREATED = 1_795_183_399;

const intent = 'pi_3SVb2eKQ7M8F3K2A0hT1cN5x';
const charge = 'ch_3SVb2eKQ7M8F3K2A0qWz9LrD';

/** What stands around every object (Stripe API reference: The Event object). */
const event = (type: string, object: object) => ({
  id: `evt_${intent.slice(3)}`,
  object: 'event',
  api_version: '2025-09-30.clover',
  created: CREATED,
  type,
  livemode: false,
  pending_webhooks: 1,
  request: { id: 'req_9VxT4ew6rtKQ7M', idempotency_key: null },
  data: { object },
});

/** A refund began; cut to what matters (Stripe API reference: The Refund object). */
export const refundCreated: object = event('refund.created', {
  id: 're_3SVb2eKQ7M8F3K2A0mP4sHuJ',
  object: 'refund',
  amount: 1750,
  currency: 'eur',
  charge,
  payment_intent: intent,
  created: CREATED,
  metadata: { order: '10412' },
  reason: 'requested_by_customer',
  receipt_number: null,
  status: 'succeeded',
});

/** A payment came off (Stripe API reference: The PaymentIntent object). */
export const paymentSucceeded: object = event('payment_intent.succeeded', {
  id: intent,
  object: 'payment_intent',
  amount: 1750,
  amount_received: 1750,
  currency: 'eur',
  customer: 'cus_TSq8m4ew6rtKQ7',
  description: 'Order 10412',
  latest_charge: charge,
  livemode: false,
  created: CREATED,
  metadata: { order: '10412' },
  payment_method_types: ['card'],
  status: 'succeeded',
});
