Feature: A host keeps its head whatever the moment
  A seed decides where what an extension writes is cut, what is written together, and what comes first. A scenario
  runs under several seeds.

  @0.1 @0.2 @0.4 @EXT04-FRAME-013
  @0.3 @EXT03-READ-025
  Scenario Outline: A frame is what a line feed ends, however it arrives
    Given an extension under the schedule "<schedule>"
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension was asked to shut down
    And nothing of the extension is left

    Examples:
      | schedule                 |
      | one byte per write       |
      | writes of any length     |
      | many frames in one write |

  Scenario Outline: Requests in one write with other frames
    Given an extension under the schedule "<schedule>"
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension is answered
      | request | answer                                       |
      | "p-1"   | error unknown_method or error request_cancelled |
      | "p-2"   | error unknown_method                         |

    @0.1 @0.2 @0.4 @EXT04-ORDER-010
    @0.3 @EXT03-METHOD-006
    Examples:
      | schedule              |
      | many frames per write |

    @0.1 @0.2 @0.4 @EXT04-ORDER-010
    @0.3 @EXT03-INIT-034
    Examples:
      | schedule                                 |
      | requests behind the answer to initialize |

    @0.2 @0.4 @EXT04-CANCEL-014
    @0.3 @EXT03-CANCEL-014 @EXT03-CANCEL-015 @EXT03-CANCEL-016
    Examples:
      | schedule                       |
      | a request and its cancellation |

  Scenario Outline: An answer at the moment of a cancellation
    Given an extension under the schedule "<schedule>"
    When the host is interrupted during a call of "slow"
    Then at most one cancellation was sent
    And the extension was asked to shut down
    And nothing of the extension is left

    @0.2 @0.4 @EXT04-CANCEL-010
    @0.3 @EXT03-CANCEL-010
    Examples:
      | schedule                            |
      | an answer as the cancellation comes |

    @0.2 @0.4 @EXT04-CANCEL-011
    @0.3 @EXT03-CANCEL-012
    Examples:
      | schedule                                 |
      | an answer in place of the cancellation's |

    @0.2 @0.4 @EXT04-CANCEL-011 @EXT04-ENV-016
    Examples:
      | schedule                                        |
      | a second answer behind that to the cancellation |

  @0.2 @0.4 @EXT04-CANCEL-013
  Scenario: An interrupt behind the answer
    Given an extension under the schedule "a late answer to shutdown"
    When the host is interrupted as it asks for the end of "echo"
    Then no call was cancelled
    And nothing of the extension is left

  @0.2 @0.4 @EXT04-PARENT-005 @EXT04-PARENT-006
  Scenario: A request and the answer of its parent in one write
    Given an extension under the schedule "a request and the answer of its parent"
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension is answered
      | request | answer                                  |
      | "p-1"   | cancelled or result {"confirmed":false} |

  @0.2 @0.4 @EXT04-ORDER-010
  Scenario: A request behind the answer of its parent
    Given an extension under the schedule "a request behind the answer of its parent"
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension is answered
      | request | answer                     |
      | "p-1"   | error not_foreground_owner |

  @0.1 @0.2 @0.4 @EXT04-ORDER-009
  Scenario: A request in front of the answer to initialize
    Given an extension under the schedule "a request in front of the answer to initialize"
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension is answered
      | request | answer                    |
      | "p-1"   | token unsupported_feature |

  @0.3 @EXT03-ORDER-009
  Scenario: A request in front of the contract
    Given an extension under the schedule "a request in front of the answer to initialize"
    When the host calls the tool "echo"
    Then the host gives the extension up

  Scenario Outline: Ends at odd moments
    Given an extension under the schedule "<schedule>"
    When the host calls the tool "echo"
    Then the host says what the tool said
    And nothing of the extension is left

    @0.1 @0.2 @0.4 @EXT04-ORDER-010
    @0.3 @EXT03-FRAME-015
    Examples:
      | schedule               |
      | an answer and the exit |

    @0.1 @0.2 @0.4 @EXT04-SHUT-008
    @0.3 @EXT03-SHUT-009
    Examples:
      | schedule                        |
      | a closed input while it is busy |
      | a late answer to shutdown       |

    @0.1 @0.2 @0.4 @EXT04-SHUT-008
    @0.3 @EXT03-SHUT-010
    Examples:
      | schedule                                                |
      | an end of the output in place of the answer to shutdown |

  @0.3 @EXT03-SHUT-011
  Scenario: Noise behind shutdown
    Given an extension under the schedule "noise in front of the answer to shutdown"
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension is answered
      | request | answer  |
      | "p-1"   | nothing |

  Scenario Outline: A call that is in flight at the end
    Given an extension under the schedule "<schedule>"
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the tool was called once

    @0.1 @0.2 @0.4 @EXT04-CALL-010
    @0.3 @EXT03-ORDER-010 @EXT03-PROC-014
    Examples:
      | schedule                        |
      | an exit with the call in flight |

    @0.1 @0.2 @0.4 @EXT04-CALL-010
    @0.3 @EXT03-ORDER-010 @EXT03-FRAME-014
    Examples:
      | schedule                    |
      | half an answer and the exit |

  @0.3 @EXT03-FRAME-014
  Scenario: A whole answer without its line feed
    Given an extension with the script
      """
      on tool/call
      say «answer»↩
      exit 0
      """
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the tool was called once
