import { expect, test } from 'vitest'
import { parseImageReference } from '../../../../src/schedulers/docker/image-reference.ts'

test.each([
  ['busybox', 'docker.io', 'busybox', 'latest'],
  ['busybox:1.36', 'docker.io', 'busybox', '1.36'],
  ['library/busybox', 'docker.io', 'library/busybox', 'latest'],
  ['docker.io/library/busybox:1', 'docker.io', 'docker.io/library/busybox', '1'],
  ['localhost/x', 'localhost', 'localhost/x', 'latest'],
  ['127.0.0.1:5000/a/b', '127.0.0.1:5000', '127.0.0.1:5000/a/b', 'latest'],
  ['reg.example:5000/a/b:v2', 'reg.example:5000', 'reg.example:5000/a/b', 'v2'],
  ['reg.example/a@sha256:abc', 'reg.example', 'reg.example/a', 'sha256:abc'],
  ['reg.example/a:v1@sha256:abc', 'reg.example', 'reg.example/a:v1', 'sha256:abc'],
  ['a:5000', 'docker.io', 'a', '5000'],
])('%s is of registry %s', (image, registry, fromImage, tag) => {
  expect(parseImageReference(image)).toEqual({ registry, fromImage, tag })
})
