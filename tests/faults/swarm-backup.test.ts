import { test } from 'node:test';
import { comeBack } from '../lib/container-backup.ts';
import { needs } from '../lib/needs.ts';

const skip = needs('an own container engine');

test('a backup holds what agents in a swarm have, and a restore puts it back', { skip }, (t) => comeBack(t, 'swarm'));
