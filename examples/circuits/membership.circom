// Membership: "I know a secret whose commitment is a leaf of the tree with this root; here is its nullifier for this scope."
// The path is private; the root and the nullifier are outputs, the scope is a public input.
pragma circom 2.1.0;

include "circomlib/circuits/poseidon.circom";
include "circomlib/circuits/mux1.circom";
include "circomlib/circuits/bitify.circom";

template Membership(depth) {
    signal input secret;
    signal input position;             // of the leaf, 0 .. 2^depth - 1
    signal input siblings[depth];      // from the leaf's to the root's child
    signal input scope;
    signal output root;
    signal output nullifier;

    component side = Num2Bits(depth);
    side.in <== position;

    component leaf = Poseidon(1);
    leaf.inputs[0] <== secret;

    component order[depth];
    component node[depth];
    signal hash[depth + 1];
    hash[0] <== leaf.out;
    for (var i = 0; i < depth; i++) {
        order[i] = MultiMux1(2);
        order[i].c[0][0] <== hash[i];
        order[i].c[0][1] <== siblings[i];
        order[i].c[1][0] <== siblings[i];
        order[i].c[1][1] <== hash[i];
        order[i].s <== side.out[i];
        node[i] = Poseidon(2);
        node[i].inputs[0] <== order[i].out[0];
        node[i].inputs[1] <== order[i].out[1];
        hash[i + 1] <== node[i].out;
    }
    root <== hash[depth];

    component tag = Poseidon(2);
    tag.inputs[0] <== secret;
    tag.inputs[1] <== scope;
    nullifier <== tag.out;
}

component main {public [scope]} = Membership(32);
