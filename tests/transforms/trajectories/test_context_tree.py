"""Contexts share the nodes of what they have in common."""

from transforms.identity import EMPTY_CONTEXT, extend
from transforms.trajectories.context_tree import ContextTree, messages_after, nearest, shorten


def test_equal_beginnings_are_one_node():
    tree = ContextTree()
    one, other = tree.add(tree.root, [b"a", b"b", b"c"]), tree.add(tree.root, [b"a", b"b", b"d"])
    assert one.parent is other.parent and one is not other
    assert one.id == extend(extend(extend(EMPTY_CONTEXT, b"a"), b"b"), b"c")


def test_a_context_can_be_cut_and_told():
    tree = ContextTree()
    context = tree.add(tree.root, [b"a", b"b", b"c"])
    assert messages_after(context) == [b"a", b"b", b"c"]
    beginning = shorten(context, 1)
    assert beginning is not None and messages_after(context, beginning) == [b"b", b"c"]
    assert shorten(context, 4) is None and shorten(context, 0) is tree.root


def test_the_longest_wanted_beginning_is_found():
    tree = ContextTree()
    context = tree.add(tree.root, [b"a", b"b", b"c"])
    found = nearest(context, lambda node: node.length < 3)
    assert found is not None and found.length == 2
    assert nearest(context, lambda node: False) is None
