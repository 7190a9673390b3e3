@v1alpha1
Feature: What a client stands

  Scenario Outline: A client goes on with a server that <does>
    Given a server that <does>
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."

    @OUP-FRAME-024
    Examples:
      | does                    |
      | tells what nobody knows |

    @OUP-FRAME-025
    Examples:
      | does                     |
      | answers what nobody asked |

    @OUP-FRAME-027
    Examples:
      | does                       |
      | adds members to everything |

    @OUP-FRAME-030
    Examples:
      | does                           |
      | sends null for what it has not |

    @OUP-FRAME-032
    Examples:
      | does           |
      | uses new words |

    @OUP-FRAME-038
    Examples:
      | does                 |
      | asks its client back |

    @OUP-FRAME-039
    Examples:
      | does                                  |
      | fails nobody with an error of no form |

    @OUP-PROGRESS-012
    Examples:
      | does                               |
      | tells session events of a new kind |

    @OUP-PROGRESS-004
    Examples:
      | does                         |
      | names the kind of its events |

    @OUP-VERSION-003
    Examples:
      | does     |
      | is newer |

    @OUP-CAPABILITY-009
    Examples:
      | does             |
      | gives no reasons |

    @OUP-CAPABILITY-011
    Examples:
      | does                       |
      | opens without capabilities |

    @OUP-KEY-013
    Examples:
      | does                 |
      | confirms another key |

    @OUP-STREAM-022
    Examples:
      | does               |
      | repeats its pieces |

  @OUP-STREAM-022
  Scenario: A repeated piece is said once
    Given a server that repeats its pieces
    When the client runs a turn that says something
    Then the client has not said "One One"
    And the client has not said "three.One"

  @OUP-STREAM-018
  Scenario: Pieces belong to their own part of the answer
    Given a server that speaks in two parts at once
    When the client runs a turn that says something
    Then the client has said "One two three."
    And the client has said "Nine ten."

  @OUP-STREAM-019
  Scenario: The stored text counts
    Given a server that corrects itself
    When the client runs a turn that says something
    Then the client has said "Four five six."
    And the client has not said "One two three."

  @OUP-STREAM-019
  Scenario: The stored text takes the place of its own pieces alone
    Given a server that says more than one thing
    When the client runs a turn that says something
    Then the client has said "One two three."

  @OUP-STREAM-020
  Scenario: What comes behind the end is not said
    Given a server that speaks behind its end
    When the client runs a turn that says something
    Then the client ends well
    And the client has not said "And more."

  @OUP-STREAM-021
  Scenario: A second end changes nothing
    Given a server that ends twice
    When the client runs a turn that says something
    Then the client ends well

  Scenario Outline: A client refuses a server that <does>
    Given a server that <does>
    When the client runs a turn that says something
    Then the client reports a failure
    And the client calls turn/start never

    @OUP-VERSION-002
    Examples:
      | does                    |
      | speaks another protocol |
      | is older                |

  @OUP-CAPABILITY-010
  Scenario: A success that says unsupported is a refusal
    Given a server that refuses by a success
    When the client runs a turn that says something
    Then the client reports a failure
