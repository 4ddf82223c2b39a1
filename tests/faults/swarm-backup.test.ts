import { test } from 'node:test';
import { comeBack } from '@troupe/testing/containers/backup';
import { needs } from '@troupe/testing/machine/needs';

const skip = needs('an own container engine');

test('a backup holds what agents in a swarm have, and a restore puts it back', { skip }, (t) => comeBack(t, 'swarm'));
