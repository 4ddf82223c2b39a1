import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentLimit, entitle, PLAN_LIMITS, PLANS, type Subscriber } from './plans.ts';

const subscriber = (
  plan: string | null,
  subscriptionStatus: Subscriber['subscriptionStatus'] = 'active',
  isAdmin = false,
): Subscriber => ({
  plan,
  subscriptionStatus,
  isAdmin,
});

test('a plan above the own one is refused by name, one at or below it is granted', () => {
  for (const [own, ownPlan] of PLANS.entries())
    for (const [wanted, wish] of PLANS.entries()) {
      const answer = entitle(subscriber(ownPlan), wish);
      if (wanted <= own) assert.deepEqual(answer, { plan: wish });
      else
        assert.deepEqual(answer, {
          refused: { status: 403, message: `Plan ${wish} is not part of your subscription`, code: 'PLAN_MISMATCH' },
        });
    }
});

test('without a wish the plan is the lower of label and the own one', () => {
  assert.deepEqual(
    PLANS.map((plan) => entitle(subscriber(plan), undefined)),
    [{ plan: 'solo' }, { plan: 'collective' }, { plan: 'label' }, { plan: 'label' }],
  );
});

test('a tier is a wish too', () => {
  assert.deepEqual(entitle(subscriber('collective'), 'pro'), { plan: 'collective' });
  assert.match(JSON.stringify(entitle(subscriber('collective'), 'enterprise')), /Plan network is not part/);
});

test('no active subscription, no entitlement; administrators need none', () => {
  for (const status of ['inactive', 'past_due', 'cancelled'] as const)
    assert.deepEqual(entitle(subscriber('network', status), 'solo'), {
      refused: { status: 403, message: 'Active subscription required' },
    });
  assert.deepEqual(entitle(subscriber(null), 'solo'), {
    refused: { status: 403, message: 'Active subscription required' },
  });
  assert.deepEqual(entitle(subscriber(null, 'inactive', true), 'network'), { plan: 'network' });
});

test('free is 402 for everybody', () => {
  for (const who of [subscriber('network'), subscriber(null, 'inactive'), subscriber(null, 'inactive', true)])
    assert.match(JSON.stringify(entitle(who, 'free')), /"status":402/);
});

test('the agent limit is the lower of plan and tier', () => {
  assert.deepEqual(
    [agentLimit('solo'), agentLimit('collective'), agentLimit('label'), agentLimit('network')],
    [1, 3, 10, Infinity],
  );
  assert.deepEqual(
    [agentLimit('network', 'pro'), agentLimit('network', 'enterprise'), agentLimit('solo', 'pro')],
    [3, 100, 1],
  );
});

test('prices are the published ones', () => {
  assert.deepEqual(
    PLANS.map((plan) => PLAN_LIMITS[plan].price),
    [29, 69, 149, 499],
  );
});
